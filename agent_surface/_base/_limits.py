"""Limits with their defaults. Every one is enforced and every refusal is diagnosable."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSurfaceLimits:
    """Bounds of one registry. Sizes are UTF-8 bytes of the compact JSON form, durations milliseconds."""

    max_component_description: int = 500
    max_capability_description: int = 300
    max_meta_bytes: int = 2_048
    max_input_bytes: int = 262_144
    max_output_bytes: int = 32_768
    max_schema_bytes: int = 16_384
    max_schema_depth: int = 8
    observation_timeout_ms: int = 5_000
    action_timeout_ms: int = 10_000
    procedure_timeout_ms: int = 30_000
    slow_handler_ms: int = 100
    action_queue_depth: int = 2
    max_concurrent_observations_per_consumer: int = 8
    max_concurrent_observations_total: int = 32
    max_queued_observations_per_consumer: int = 8
    dedupe_cache_size: int = 200
    dedupe_cache_ttl_ms: int = 600_000
    tombstone_size: int = 100
    tombstone_ttl_ms: int = 300_000
    confirmation_ttl_ms: int = 120_000
    max_pending_confirmations: int = 32
    max_resolved_confirmations: int = 200
    audit_buffer_size: int = 1_000

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ValueError(f"limit {field.name} must be a non-negative integer, not {value!r}")
