"""The pipeline of ten phases.

Above: the registry hands calls over. Below: live registrations, confirmations, policies, procedures. The phases know
the call and nothing of each other; only ``_pipeline`` knows their order.
"""
