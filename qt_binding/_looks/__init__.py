"""How everything of ours looks: colours made from the palette, honest labels, painted signs.

Above: the windows and docks of ``qt_binding``. Below: ``qt_binding._text`` and Qt widgets.
"""

from qt_binding._looks._colors import Colors, blend, contrast, is_dark, readable
from qt_binding._looks._direction import in_own_direction
from qt_binding._looks._effect import EffectBadge, badge_colors, effect_word
from qt_binding._looks._glyphs import Glyph, GlyphView, arrow_path, paint_glyph
from qt_binding._looks._label import PlainLabel
from qt_binding._looks._shortened import more_characters, shortened

__all__ = [
    "Colors",
    "EffectBadge",
    "Glyph",
    "GlyphView",
    "PlainLabel",
    "arrow_path",
    "badge_colors",
    "blend",
    "contrast",
    "effect_word",
    "in_own_direction",
    "is_dark",
    "more_characters",
    "paint_glyph",
    "readable",
    "shortened",
]
