"""Tools that belong to no component, under the same authority and through the same pipeline.

Above: the program that puts together what a model provider or a bridge is given. Below: the registry.
"""

from agent_surface.exposure._gateway import AgentExposureGateway, create_agent_exposure_gateway
from agent_surface.exposure._values import ExposedTool

__all__ = ["AgentExposureGateway", "ExposedTool", "create_agent_exposure_gateway"]
