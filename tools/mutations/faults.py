"""The faults: small, of the kind people make, each where a promise of the surface would break.

An anchor is the exact text of one place; a test of the project fails when the code moved and the anchor did not.
"""

from __future__ import annotations

from dataclasses import dataclass

CORE, QT = "agent_surface/", "qt_binding/"
PIPELINE = CORE + "_pipeline/"
STORE = CORE + "confirmations/_store.py"
REGISTRAR = CORE + "registry/_registrar.py"
WATCH = QT + "mixin/_watch.py"
COMPONENT = QT + "mixin/_component.py"
STEADY = QT + "mixin/_steady.py"
GLANCE = QT + "_availability/_glance.py"
TAKE_OVER = CORE + "policies/_take_over.py"
EVIDENCE = CORE + "confirmations/_evidence.py"
POOL = CORE + "_base/_threads.py"
AUDIT_CHAIN = CORE + "audit/_chain.py"

T = "tests/core/"
ADMISSION, APPROVAL, IDENTITY, MOMENTS, SETTLEMENT = (
    f"{T}pipeline/test_{name}.py" for name in ("admission", "approval", "identity", "moments", "settlement")
)
LAST_MOMENTS = T + "pipeline/test_summaries_and_last_moments.py"
CONFIRMATIONS = T + "confirmations/test_store.py"
FORGERY, MANIFEST = T + "authority/test_forgery.py", T + "authority/test_manifest.py"
LIFECYCLE, HANDLES, THREADS = (
    f"{T}registry/test_{name}.py" for name in ("lifecycle", "handles_and_executors", "threads")
)
CHAIN, BUILT_IN = T + "policies/test_chain.py", T + "policies/test_alone.py"
TOOLS = T + "toolset/test_with_registry.py"
DELIVERY = T + "events/test_delivery.py"
CONTROL = T + "policies/test_take_over.py"
CLAIMS = T + "confirmations/test_evidence.py"
WORKERS = T + "base/test_threads.py"
AUDIT_FILE, FORGED_LINES = T + "audit/test_jsonl.py", T + "audit/test_forged_lines.py"
CONTRACTS = T + "contracts/test_bindings_and_seams.py"
QT_LIFECYCLE, QT_AVAILABILITY, QT_CALLS = (
    f"tests/qt/mixin/test_{name}.py" for name in ("lifecycle", "availability", "calls")
)
QT_STEADY, QT_SHOWN, QT_NOTICED, QT_PROVIDER, QT_QUIRKS = (
    f"tests/qt/mixin/test_{name}.py"
    for name in ("steady", "noticed_while_shown", "noticed", "provider", "quirks_of_qt")
)
QT_CONTRIBUTE, QT_PROCEDURES, QT_ATTACH = (
    f"tests/qt/mixin/test_{name}.py" for name in ("contribute", "procedures", "attach")
)
QT_MODAL, QT_HOST, QT_QUEUE = (
    "tests/qt/availability/test_modal.py",
    "tests/qt/confirmation/test_host.py",
    "tests/qt/confirmation/test_queue.py",
)


@dataclass(frozen=True, slots=True)
class Fault:
    """One small change that a test has to notice.

    Attributes:
        says: What is wrong then.
        file: Where, from the root of the checkout.
        old: The text there, once in the file.
        new: The text that takes its place.
        tests: The files that should notice, most likely first.
        why_missed: Why it cannot be noticed, where that was looked into.
    """

    says: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    why_missed: str = ""


FAULTS = (
    # The ten phases.
    Fault(
        "availability is not looked at",
        PIPELINE + "_pipeline.py",
        "        check_availability(call)\n",
        "        pass\n",
        (LIFECYCLE, APPROVAL, MOMENTS),
    ),
    Fault(
        "nobody is authorized",
        PIPELINE + "_pipeline.py",
        "if (pending := authorize(call, phases.contexts)) is not None:",
        "if (pending := None) is not None:",
        (CHAIN, APPROVAL, BUILT_IN),
    ),
    Fault(
        "policies see no input",
        PIPELINE + "_pipeline.py",
        "if (pending := phases.approval.run_policies(call)) is not None:",
        "if (pending := None) is not None:",
        (APPROVAL, CHAIN),
    ),
    Fault(
        "no person is asked",
        PIPELINE + "_pipeline.py",
        "        phases.approval.decide(call)\n",
        "        pass\n",
        (APPROVAL,),
    ),
    Fault(
        "the precondition is not checked",
        PIPELINE + "_pipeline.py",
        "        call.phase = 7\n        check_precondition(call, phases.contexts)\n",
        "        call.phase = 7\n",
        (APPROVAL, MOMENTS),
    ),
    Fault(
        "no call waits for its turn",
        PIPELINE + "_pipeline.py",
        "if (pending := phases.admission.admit(call)) is not None:",
        "if (pending := None) is not None:",
        (ADMISSION,),
    ),
    Fault(
        "a slot is never given back",
        PIPELINE + "_pipeline.py",
        "            if call.slot is not None:\n                call.slot()\n",
        "            if call.slot is not None:\n",
        (ADMISSION, MOMENTS),
    ),
    Fault(
        "the output is not checked",
        PIPELINE + "_pipeline.py",
        "output, has_output = phases.settlement.check_output(call, value)",
        "output, has_output = value, value is not None",
        (SETTLEMENT, T + "pipeline/test_answers.py"),
    ),
    Fault(
        "a late end is not recorded",
        PIPELINE + "_pipeline.py",
        '            phases.settlement.late(call, "ok")\n',
        "            pass\n",
        (SETTLEMENT, MOMENTS, ADMISSION),
    ),
    Fault(
        "a back end's demand asks nobody",
        PIPELINE + "_pipeline.py",
        "            error = self._phases.approval.server_demand(call, error)\n",
        "            pass\n",
        (T + "procedures/test_http.py", T + "pipeline/test_answers.py"),
    ),
    Fault(
        "closing leaves calls in flight",
        PIPELINE + "_pipeline.py",
        "            self._phases.interruption.closed(call)\n",
        "            pass\n",
        (LIFECYCLE, MOMENTS, SETTLEMENT),
    ),
    Fault(
        "a call that ended in the start is not told to its task",
        PIPELINE + "_pipeline.py",
        "            # Ended before there was a task that could have been told.\n            task.cancel()\n",
        "            pass\n",
        (T + "pipeline/test_ends_in_the_first_step.py",),
    ),
    # Identity.
    Fault(
        "another request under a known id is answered",
        PIPELINE + "_identity.py",
        "if known.fingerprint != fingerprint:",
        "if known.fingerprint == b'':",
        (IDENTITY,),
    ),
    Fault(
        "what is not to be remembered is",
        PIPELINE + "_window.py",
        "        if not cached:\n            return\n",
        "",
        (IDENTITY, APPROVAL),
    ),
    Fault(
        "results are remembered a moment too long",
        PIPELINE + "_window.py",
        "if entry.expires_at_ms <= self._clock.monotonic_ms():",
        "if entry.expires_at_ms < self._clock.monotonic_ms():",
        (IDENTITY,),
    ),
    Fault(
        "one result too many is remembered",
        PIPELINE + "_window.py",
        "if len(self._settled) > self._limits.dedupe_cache_size:",
        "if len(self._settled) > self._limits.dedupe_cache_size + 1:",
        (IDENTITY,),
    ),
    Fault(
        "the most recent result goes first",
        PIPELINE + "_window.py",
        "self._settled.popitem(last=False)",
        "self._settled.popitem(last=True)",
        (IDENTITY,),
    ),
    Fault(
        "one consumer is answered with another's result",
        PIPELINE + "_identity.py",
        "key = (consumer.key, invocation_id)",
        'key = ("", invocation_id)',
        (IDENTITY,),
    ),
    Fault(
        "evidence is no part of the request",
        PIPELINE + "_identity.py",
        "        request.confirmation_id,\n",
        "",
        (IDENTITY, APPROVAL),
    ),
    Fault(
        "an id may be of any length",
        PIPELINE + "_identity.py",
        "0 < len(invocation_id) <= MAX_ID_CHARACTERS",
        "0 < len(invocation_id)",
        (IDENTITY, LAST_MOMENTS),
    ),
    # Resolution.
    Fault(
        "what is hidden can be named by its registration",
        PIPELINE + "_resolution.py",
        "if named is None or self._contexts.hides(call, named):",
        "if named is None:",
        (T + "pipeline/test_hidden_and_named.py", IDENTITY),
    ),
    Fault(
        "another surface's version counts",
        PIPELINE + "_resolution.py",
        "and request.surface_version != version.text\n",
        "and request.surface_version == version.text\n",
        (IDENTITY,),
    ),
    Fault(
        "an approved call is stale because the screen moved",
        PIPELINE + "_resolution.py",
        "            and request.confirmation_id is None\n",
        "",
        (APPROVAL, IDENTITY),
    ),
    Fault(
        "the version matters for every effect",
        PIPELINE + "_resolution.py",
        "            and live.effect in _VERSION_BOUND\n",
        "",
        (IDENTITY,),
    ),
    Fault(
        "of several instances the first is taken",
        PIPELINE + "_resolution.py",
        "if len(matching) > 1:",
        "if len(matching) > 2:",
        (IDENTITY,),
    ),
    Fault(
        "another surface's id is taken for ours",
        PIPELINE + "_resolution.py",
        "request.surface_id is not None and request.surface_id != self._surface_id",
        "request.surface_id == ''",
        (IDENTITY,),
    ),
    # Gates, input, approval.
    Fault(
        "what a policy disables can be called",
        PIPELINE + "_gates.py",
        "        if decision.outcome is DiscoveryOutcome.DISABLE:\n            raise not_available",
        "        if decision.outcome is None:\n            raise not_available",
        (CHAIN, LIFECYCLE),
    ),
    Fault(
        "a locked field can be supplied",
        PIPELINE + "_effective_input.py",
        "        if locked:\n",
        "        if not locked and locked:\n",
        (APPROVAL, CONTRACTS),
    ),
    Fault(
        "what the screen supplies wins over what the agent may choose",
        PIPELINE + "_effective_input.py",
        "tuple(key for key in binding.bind if key not in merged)",
        "tuple(binding.bind)",
        (APPROVAL, CONTRACTS),
    ),
    Fault(
        "the merged input is not validated",
        PIPELINE + "_effective_input.py",
        "parsed = schema.parse(merged)",
        "parsed = merged",
        (APPROVAL, CONTRACTS),
    ),
    Fault(
        "people are asked in vain",
        PIPELINE + "_approval.py",
        "            call.phase = 7\n            check_precondition(call, self._contexts)\n",
        "",
        (APPROVAL,),
    ),
    Fault(
        "a policy's demand asks nobody",
        PIPELINE + "_approval.py",
        "elif call.demands or call.capability.confirmation is Confirmation.REQUIRED:",
        "elif call.capability.confirmation is Confirmation.REQUIRED:",
        (APPROVAL, CHAIN, BUILT_IN),
    ),
    Fault(
        "an approval holds for any input",
        PIPELINE + "_approval.py",
        "            effective_input=call.effective_input,\n",
        "            effective_input=None,\n",
        (APPROVAL,),
    ),
    Fault(
        "an approval holds for any consumer",
        PIPELINE + "_approval.py",
        "            consumer_key=call.consumer_key,\n",
        '            consumer_key="",\n',
        (APPROVAL,),
    ),
    Fault(
        "a precondition that raised agrees",
        PIPELINE + "_preconditions.py",
        "        raise precondition_failed(_PRECONDITION_BROKEN) from error\n",
        "        return\n",
        (APPROVAL, MOMENTS),
    ),
    # Admission.
    Fault(
        "one more runs at once",
        PIPELINE + "_admission.py",
        "if group.running < most and not group.waiting:",
        "if group.running <= most and not group.waiting:",
        (ADMISSION,),
    ),
    Fault(
        "one more may wait",
        PIPELINE + "_admission.py",
        "if len(group.waiting) >= depth:",
        "if len(group.waiting) > depth:",
        (ADMISSION,),
    ),
    Fault(
        "the pool of one consumer has no bound",
        PIPELINE + "_admission.py",
        "            running < self._limits.max_concurrent_observations_per_consumer\n            and self",
        "            self",
        (ADMISSION,),
    ),
    Fault(
        "the pool of all has no bound",
        PIPELINE + "_admission.py",
        "            and self._observing_total < self._limits.max_concurrent_observations_total\n",
        "",
        (ADMISSION,),
    ),
    Fault(
        "a consumer just served is served again",
        PIPELINE + "_admission.py",
        "                self._queues.move_to_end(consumer)\n",
        "",
        (ADMISSION,),
    ),
    Fault(
        "a turn that came too late is lost",
        PIPELINE + "_admission.py",
        "            self._leave()\n            return\n",
        "            return\n",
        (ADMISSION, MOMENTS),
    ),
    Fault(
        "who gave up is served",
        PIPELINE + "_admission.py",
        "        if not waiter.done():\n            waiter.set_result(None)\n            return True\n",
        "        if not waiter.done():\n            waiter.set_result(None)\n        return True\n",
        (ADMISSION, MOMENTS),
    ),
    # Execution, interruption, settlement.
    Fault(
        "availability is not looked at again",
        PIPELINE + "_execution.py",
        "        availability = call.capability.availability()\n        if not availability.available:\n",
        "        availability = call.capability.availability()\n        if availability is None:\n",
        (MOMENTS, APPROVAL),
    ),
    Fault(
        "the precondition is not checked again",
        PIPELINE + "_execution.py",
        "        if call.suspended:\n",
        "        if False:\n",
        (MOMENTS, APPROVAL),
    ),
    Fault(
        "evidence is used before the last checks",
        PIPELINE + "_execution.py",
        "        call.require_open()\n        availability = call",
        "        call.require_open()\n        if call.claim is not None:\n            call.claim.consume()\n"
        "            call.claim = None\n        availability = call",
        (APPROVAL, MOMENTS),
    ),
    Fault(
        "evidence is never used up",
        PIPELINE + "_execution.py",
        "            call.claim.consume()\n",
        "            pass\n",
        (APPROVAL,),
    ),
    Fault(
        "the caller's time-out does not count",
        PIPELINE + "_execution.py",
        "timeout_ms = asked_ms if asked_ms is not None else call.capability.timeout_ms",
        "timeout_ms = call.capability.timeout_ms",
        (SETTLEMENT, MOMENTS, ADMISSION),
    ),
    Fault(
        "a handler that is slow is not named",
        PIPELINE + "_execution.py",
        "if held_ms > self._limits.slow_handler_ms:",
        "if held_ms < 0:",
        (SETTLEMENT, MOMENTS),
    ),
    Fault(
        "a path the executor dropped is run",
        PIPELINE + "_execution.py",
        "if executor is None or path not in executor.paths:",
        "if executor is None:",
        (T + "procedures/test_dropped_path.py",),
    ),
    Fault(
        "a navigation ends with its page",
        PIPELINE + "_interruption.py",
        "if call.on_stack or (call.dispatched and call.capability.effect is Effect.NAVIGATION):",
        "if call.on_stack:",
        (MOMENTS, SETTLEMENT, LIFECYCLE),
    ),
    Fault(
        "a handler that closes its own window has no result",
        PIPELINE + "_interruption.py",
        "if call.on_stack or (call.dispatched and call.capability.effect is Effect.NAVIGATION):",
        "if call.dispatched and call.capability.effect is Effect.NAVIGATION:",
        (MOMENTS, SETTLEMENT, LIFECYCLE),
    ),
    Fault(
        "the handler is not asked to end",
        PIPELINE + "_interruption.py",
        "        if call.task is not None:\n            call.task.cancel()\n",
        "",
        (MOMENTS, SETTLEMENT, ADMISSION),
    ),
    Fault(
        "evidence held in vain is lost",
        PIPELINE + "_settlement.py",
        "            call.claim.release()\n",
        "            pass\n",
        (APPROVAL, MOMENTS),
    ),
    Fault(
        "a queued call keeps its place when it ends",
        PIPELINE + "_settlement.py",
        "            call.leave_queue()\n",
        "            pass\n",
        (ADMISSION, MOMENTS),
    ),
    Fault(
        "an output may be larger than allowed",
        PIPELINE + "_settlement.py",
        "if size_bytes > self._limits.max_output_bytes:",
        "if size_bytes > 2 * self._limits.max_output_bytes:",
        (SETTLEMENT, T + "pipeline/test_answers.py"),
    ),
    Fault(
        "the audit keeps inputs it was not asked to keep",
        PIPELINE + "_settlement.py",
        "input=call.effective_input if level is AuditLevel.FULL else None",
        "input=call.effective_input",
        (SETTLEMENT, T + "audit/test_trail.py"),
    ),
    # Confirmations.
    Fault(
        "an approval works more than once",
        STORE,
        "                self._move(record, RecordState.CLAIMED)\n",
        "                pass\n",
        (CONFIRMATIONS, APPROVAL),
    ),
    Fault(
        "evidence counts for any call",
        STORE,
        "if record is None or record.binding_text != binding.canonical_text():",
        "if record is None:",
        (APPROVAL, CONFIRMATIONS),
    ),
    Fault(
        "anything but no is yes",
        STORE,
        "ConfirmationOutcome.APPROVED if approved is True else ConfirmationOutcome.DENIED",
        "ConfirmationOutcome.APPROVED if approved else ConfirmationOutcome.DENIED",
        (CONFIRMATIONS,),
    ),
    Fault(
        "one more person is asked",
        STORE,
        "if self._records.pending_count >= self._limits.max_pending_confirmations:",
        "if self._records.pending_count > self._limits.max_pending_confirmations:",
        (CONFIRMATIONS, APPROVAL),
    ),
    Fault(
        "an equal request opens a second dialog",
        STORE,
        "        if known is not None:\n            return self._shown(known)\n",
        "",
        (CONFIRMATIONS, APPROVAL),
    ),
    Fault(
        "an approval of a component that went can be used",
        STORE,
        "                if record.state is RecordState.APPROVED:\n"
        "                    self._expire_unused(record, actor=actor)\n",
        "",
        (CONFIRMATIONS, LIFECYCLE),
    ),
    Fault(
        "an approval given back late works again",
        STORE,
        "elif record.pending.expires_at_monotonic_ms <= self._clock.monotonic_ms():",
        "elif False:",
        (T + "confirmations/test_given_back_late.py", CONFIRMATIONS),
    ),
    Fault(
        "a withdrawn request stays while somebody holds it, and nobody does",
        STORE,
        "if record is not None and not record.holders:",
        "if record is not None and record.holders:",
        (CONFIRMATIONS, TOOLS),
    ),
    Fault(
        "who waits for a decision is not woken",
        STORE,
        "            _wake(record)\n",
        "            pass\n",
        (CONFIRMATIONS,),
    ),
    # Authority and registry.
    Fault(
        "a changed declaration is registered",
        CORE + "authority/_authority.py",
        'if listed["declarationHash"] != record.declaration_hash:',
        "if listed is record:",
        (MANIFEST, CONTRACTS, FORGERY),
    ),
    Fault(
        "an undeclared component is registered",
        CORE + "registry/_registrar.py",
        "            verify_binding(self._authority, sealed)\n",
        "",
        (MANIFEST, LIFECYCLE, CONTRACTS),
    ),
    Fault(
        "a demanded policy may be missing",
        CORE + "authority/_authority.py",
        "    _require_policies(contract.type, contract.policies, bound.policies)\n",
        "",
        (MANIFEST, CONTRACTS),
    ),
    Fault(
        "a demanded policy may have other parameters",
        CORE + "authority/_authority.py",
        '            and (not parameters or getattr(policy, "parameters", None) == parameters)\n',
        "",
        (MANIFEST, CONTRACTS),
    ),
    Fault(
        "production takes any contract",
        CORE + "registry/_create.py",
        'if environment == "production" and proof.completeness != "proven":',
        'if environment == "nowhere":',
        (MANIFEST, LIFECYCLE, FORGERY),
    ),
    Fault(
        "a forged authority is genuine",
        CORE + "authority/_authority.py",
        "    proof = _AUTHORITIES.find(authority)\n    if proof is None:\n",
        "    proof = _AUTHORITIES.find(authority)\n"
        "    if proof is None and isinstance(authority, CapabilityAuthority):\n"
        "        return AuthorityProof(authority.manifest)\n    if proof is None:\n",
        (FORGERY,),
    ),
    Fault(
        "a component that went leaves its questions",
        REGISTRAR,
        "        self._confirmations.expire_registration(registration.registration_id)\n",
        "",
        (LIFECYCLE, APPROVAL, MOMENTS),
    ),
    Fault(
        "a component that went leaves its calls",
        REGISTRAR,
        "            call.owner_gone()\n",
        "            pass\n",
        (MOMENTS, LIFECYCLE, ADMISSION),
    ),
    Fault(
        "a guard that raises agrees",
        REGISTRAR,
        'is rejected", registration.type)\n            return True\n',
        'is rejected", registration.type)\n            return False\n',
        (LIFECYCLE, HANDLES),
    ),
    Fault(
        "a second component takes the place of the first",
        REGISTRAR,
        'if self._on_duplicate == "reject" and self._store.find_identity(registration.identity) is not None:',
        'if self._on_duplicate == "never" and self._store.find_identity(registration.identity) is not None:',
        (LIFECYCLE,),
    ),
    Fault(
        "nothing that changed is announced all the same",
        REGISTRAR,
        "        if changed:\n            self._announce_availability(",
        "        if changed is not None:\n            self._announce_availability(",
        (LIFECYCLE, HANDLES),
    ),
    Fault(
        "paths the authority does not list are run",
        REGISTRAR,
        "self._authority.procedure_paths.intersection(self.procedures.paths)",
        "frozenset(self.procedures.paths)",
        (HANDLES, LIFECYCLE, T + "procedures/test_executors.py", MANIFEST),
        why_missed="a reference to a path outside the contract is refused when the component registers",
    ),
    Fault(
        "an index keeps what went",
        CORE + "_registrations/_store.py",
        "        for live in registration:\n            self._drop(live)\n        registration.end()\n",
        "        registration.end()\n",
        (LIFECYCLE,),
    ),
    Fault(
        "tombstones are kept for ever",
        CORE + "_registrations/_store.py",
        "            if oldest.expires_at_ms > now_ms:\n",
        "            if oldest.expires_at_ms:\n",
        (IDENTITY,),
    ),
    Fault(
        "a predicate that raises says yes",
        CORE + "_registrations/_live.py",
        'logger.exception("the predicate of %s raised", self.capability_id)\n            return WHEN_ERROR',
        'logger.exception("the predicate of %s raised", self.capability_id)\n            return AVAILABLE',
        (T + "snapshot/test_catalogue.py",),
    ),
    Fault(
        "any thread may call",
        CORE + "registry/_owner.py",
        "        if threading.get_ident() != self.thread:\n"
        "            raise WrongThreadError(operation)\n        if self.closed:",
        "        if self.closed:",
        (THREADS,),
    ),
    Fault(
        "a change is announced as often as it happens",
        CORE + "registry/_announcements.py",
        "        if self._scheduled or self._stopped:\n            return\n",
        "        if self._stopped:\n            return\n",
        (LIFECYCLE, T + "events/test_delivery.py"),
        why_missed="what is scheduled twice announces once: the second turn finds nothing to say",
    ),
    # Policies and toolset.
    Fault(
        "a policy that raises at discovery exposes",
        CORE + "policies/_chain.py",
        "_THREW = DiscoveryVote(decision=HIDE, threw=True)",
        "_THREW = DiscoveryVote(decision=EXPOSE, threw=True)",
        (CHAIN,),
    ),
    Fault(
        "an earlier disable wins over a hide",
        CORE + "policies/_chain.py",
        "        if decision.outcome is DiscoveryOutcome.HIDE:\n            return HIDE\n",
        "        if decision.outcome is DiscoveryOutcome.HIDE:\n"
        "            return outcome if outcome is not EXPOSE else HIDE\n",
        (CHAIN,),
    ),
    Fault(
        "a policy that decides nothing agrees",
        CORE + "policies/_chain.py",
        "    if outcome is PASSED and inner.agreed:\n        return PASSED\n",
        "    if outcome is PASSED or outcome is None:\n        return PASSED\n",
        (CHAIN,),
    ),
    Fault(
        "the innermost policy is asked first",
        CORE + "policies/_chain.py",
        '        ("registry", registry),\n        ("component", component),\n',
        '        ("component", component),\n        ("registry", registry),\n',
        (CHAIN,),
    ),
    Fault(
        "a request nobody waits for stays",
        CORE + "toolset/_calls.py",
        "            watch.cancel()\n            self._waiting.discard(answer)\n            _end_hold(release)\n",
        "            watch.cancel()\n            self._waiting.discard(answer)\n",
        (TOOLS, T + "toolset/test_calls.py"),
    ),
    Fault(
        "closing a toolset leaves it waiting",
        CORE + "toolset/_calls.py",
        "                answer.set_result(None)\n        remembered",
        "                pass\n        remembered",
        (TOOLS, T + "toolset/test_calls.py"),
    ),
    # The binding.
    Fault(
        "a widget that died stays registered",
        WATCH,
        'QObject.connect(target, SIGNAL("destroyed()"), self, lambda *_: self._drop(key))',
        "pass",
        (QT_LIFECYCLE, QT_AVAILABILITY),
    ),
    Fault(
        "a component that was dropped is not unregistered",
        WATCH,
        "        self._unwatch_events(key)\n        component.unregister()\n",
        "        self._unwatch_events(key)\n",
        (QT_LIFECYCLE,),
    ),
    Fault(
        "hiding goes unnoticed",
        WATCH,
        "    QEvent.Type.Hide,\n",
        "",
        (QT_AVAILABILITY, QT_LIFECYCLE),
    ),
    Fault(
        "disabling goes unnoticed",
        WATCH,
        "    QEvent.Type.EnabledChange,\n",
        "",
        (QT_AVAILABILITY,),
    ),
    Fault(
        "another parent goes unnoticed",
        WATCH,
        "    QEvent.Type.ParentChange,\n",
        "",
        (QT_PROVIDER, QT_LIFECYCLE, QT_AVAILABILITY),
    ),
    Fault(
        "what a handler changed is not pushed before its result",
        WATCH,
        "        runtime.call_before_settlement(self.push)\n",
        "",
        (QT_CALLS, QT_AVAILABILITY),
    ),
    Fault(
        "a refused duplicate never gets a second chance",
        WATCH,
        "isinstance(event, ComponentUnregistered) and self._rejected",
        "isinstance(event, int) and self._rejected",
        (QT_LIFECYCLE,),
    ),
    Fault(
        "a predicate of the binding that raises says yes",
        COMPONENT,
        'logger.exception("a predicate or reason of %s raised", self.name)\n            return PREDICATE_FAILED',
        'logger.exception("a predicate or reason of %s raised", self.name)\n            return AVAILABLE',
        ("tests/qt/mixin/test_hooks.py", QT_AVAILABILITY),
    ),
    Fault(
        "an exempt dialog is in the way",
        QT + "_availability/_modal.py",
        "            if dialog.property(EXEMPT_PROPERTY):\n                continue\n",
        "",
        (QT_MODAL,),
    ),
    Fault(
        "a dialog is in the way of itself",
        QT + "_availability/_modal.py",
        "            if dialog in own:\n                return None",
        "            if not dialog:\n                return None",
        (QT_MODAL,),
    ),
    Fault(
        "an application-modal dialog is in nobody's way",
        QT + "_availability/_modal.py",
        "            if dialog.windowModality() == Qt.WindowModality.ApplicationModal:\n"
        "                return dialog\n",
        "",
        (QT_MODAL,),
    ),
    Fault(
        "the newest request is asked first",
        QT + "confirmation/_queue.py",
        "self._current = pending[0].confirmation_id\n            return QueueStep(show=pending[0])",
        "self._current = pending[-1].confirmation_id\n            return QueueStep(show=pending[-1])",
        (QT_QUEUE, QT_HOST),
    ),
    Fault(
        "a request that ended stays on the screen",
        QT + "confirmation/_queue.py",
        "            self._ending = True\n            return QueueStep(ended=self._current)\n",
        "            return QueueStep()\n",
        (QT_QUEUE,),
    ),
    # The short way of a push, and the glance.
    Fault(
        "another name of a plain component goes unnoticed",
        STEADY,
        '        return "instance_id" not in self._told or self._instance_id == behaviour.option(\n'
        '            target, "instance_id", self._told\n        )\n',
        "        return True\n",
        (QT_STEADY, QT_LIFECYCLE),
    ),
    Fault(
        "a plain component that speaks of itself for the first time is not heard",
        STEADY,
        "(self._spoke or says_of_itself(own))",
        "self._spoke",
        (QT_STEADY,),
    ),
    Fault(
        "what a plain component said of itself once is said for ever",
        STEADY,
        "(self._spoke or says_of_itself(own))",
        "says_of_itself(own)",
        (QT_STEADY,),
    ),
    Fault(
        "a plain component that moves to another surface stays in its old one",
        STEADY,
        "        if glance.registry_at(place, target, self._address) is not self.registry or not self",
        "        if not self",
        (QT_STEADY, QT_PROVIDER),
    ),
    Fault(
        "what is contributed to a plain component goes unnoticed",
        QT + "mixin/_behaviour.py",
        "not self.procedures and not self._contributions\n",
        "not self.procedures\n",
        (QT_CONTRIBUTE, QT_STEADY),
    ),
    Fault(
        "a procedure of a plain component goes unnoticed",
        QT + "mixin/_behaviour.py",
        "self.attached is attached and not self.procedures and",
        "self.attached is attached and",
        (QT_PROCEDURES, QT_STEADY),
    ),
    Fault(
        "a plain component that is attached anew stays what it was",
        QT + "mixin/_behaviour.py",
        "self.attached is attached and not self.procedures and",
        "not self.procedures and",
        (QT_CONTRIBUTE, QT_ATTACH, QT_STEADY),
    ),
    Fault(
        "a plain component keeps the presence it once had",
        STEADY,
        "            self._presence = presence\n            self._registration",
        "            self._registration",
        (QT_STEADY,),
    ),
    Fault(
        "a component with a switch counts as plain",
        STEADY,
        '{"instance_id", "register_on"}',
        '{"instance_id", "register_on", "enabled"}',
        (QT_STEADY, QT_AVAILABILITY),
    ),
    Fault(
        "a component with a predicate counts as plain",
        QT + "mixin/_definition.py",
        "all(role.when is None and role.follows",
        "all(role.follows",
        (QT_AVAILABILITY, QT_STEADY, QT_PROCEDURES),
    ),
    Fault(
        "a plain component that moves follows its old window",
        STEADY,
        "        if place is None or place.surroundings != self._surroundings:\n",
        "        if place is None:\n",
        (QT_STEADY, QT_AVAILABILITY),
    ),
    Fault(
        "a glance is used for more than one push",
        WATCH,
        "                glance = self._glance()\n",
        '                glance = vars(self).setdefault("glance", self._glance())\n',
        (QT_STEADY, QT_AVAILABILITY),
    ),
    Fault(
        "what is shown is never heard again",
        WATCH,
        "                    if component.unheard:\n                        self._hear_again(component)\n",
        "",
        (QT_SHOWN,),
    ),
    Fault(
        "what happens while a component registers is forgotten",
        WATCH,
        "        except RegistryClosedError as closed:\n            component.handle.rejected(closed)\n\n",
        "        except RegistryClosedError as closed:\n            component.handle.rejected(closed)\n"
        "        self._dirty.pop(component.key, None)\n\n",
        (QT_SHOWN,),
    ),
    Fault(
        "what is hidden by itself is judged with its siblings",
        GLANCE,
        "not (widget.isVisible() and widget.isEnabled() == place.enabled)",
        "not (widget.isEnabled() == place.enabled)",
        (QT_STEADY, QT_QUIRKS),
    ),
    Fault(
        "what is disabled by itself is judged with its siblings",
        GLANCE,
        "not (widget.isVisible() and widget.isEnabled() == place.enabled)",
        "not widget.isVisible()",
        (QT_STEADY, QT_QUIRKS),
    ),
    Fault(
        "what provides a surface itself belongs to that of its parent",
        GLANCE,
        "self._find_registry(widget) if self._provides(address) else place.registry",
        "place.registry",
        (QT_PROVIDER, QT_STEADY),
    ),
    Fault(
        "a dock is judged as if it were part of its window",
        GLANCE,
        " and not isinstance(widget, QDockWidget):",
        ":",
        (QT_NOTICED, QT_AVAILABILITY, QT_QUIRKS),
    ),
    Fault(
        "who was asked last is answered for everybody",
        GLANCE,
        "if self._last is not None and self._last[0] is widget:",
        "if self._last is not None:",
        (QT_STEADY, QT_AVAILABILITY),
    ),
    # Pushes and events.
    Fault(
        "the availability of one capability is taken for that of the next",
        REGISTRAR,
        "        if value is not asked:  # most",
        "        if not pushed:  # most",
        (LIFECYCLE, HANDLES),
    ),
    Fault(
        "a push that nobody hears leaves an announcement for whoever comes later",
        CORE + "registry/_announcements.py",
        "        with self._public_call:\n            self.version.bump()\n",
        "        self.version.bump()\n",
        (DELIVERY, LIFECYCLE),
    ),
    Fault(
        "the changes of one update are told one at a time",
        REGISTRAR,
        "        with self._announcements.public_call(), self._announcements.mutation():\n"
        "            self._version.bump()\n            for capability_id, now",
        "        with self._announcements.public_call():\n            self._version.bump()\n"
        "            for capability_id, now",
        (DELIVERY, LIFECYCLE),
    ),
    Fault(
        "what a large batch changed is lost",
        CORE + "events/_dispatcher.py",
        "if self._delivering and len(self._queue) >= MAX_QUEUED_EVENTS:",
        "if len(self._queue) >= MAX_QUEUED_EVENTS:",
        (DELIVERY,),
    ),
    Fault(
        "listeners that never end fill the memory",
        CORE + "events/_dispatcher.py",
        "if self._delivering and len(self._queue) >= MAX_QUEUED_EVENTS:",
        "if self._held and len(self._queue) >= MAX_QUEUED_EVENTS:",
        (DELIVERY,),
    ),
    Fault(
        "an event caused by an event overtakes it",
        CORE + "events/_dispatcher.py",
        "        if self._delivering or self._held:\n            return\n        self._delivering",
        "        if self._held:\n            return\n        self._delivering",
        (DELIVERY,),
    ),
    # A person takes over.
    Fault(
        "what runs goes on when a person takes over",
        TAKE_OVER,
        "            if engaged:\n                self._registry.interrupt()\n",
        "",
        (CONTROL,),
    ),
    Fault(
        "what is cancelled by a take-over can be repeated at once",
        TAKE_OVER,
        "            self._engaged = engaged\n            self._registry.policies_changed()\n"
        "            if engaged:\n                self._registry.interrupt()\n",
        "            self._registry.policies_changed()\n            if engaged:\n"
        "                self._registry.interrupt()\n            self._engaged = engaged\n",
        (CONTROL,),
    ),
    Fault(
        "calls are executed while a person has control",
        TAKE_OVER,
        "        if self._engaged:\n            raise not_available(TAKEN_OVER)\n",
        "",
        (CONTROL,),
    ),
    Fault(
        "agents are shown what they cannot use while a person has control",
        TAKE_OVER,
        "return _DISABLED if self._engaged else EXPOSE",
        "return EXPOSE",
        (CONTROL,),
    ),
    Fault(
        "an approval survives a take-over",
        STORE,
        '        self._void(lambda _record: True, actor="withdrawn")\n',
        "        pass\n",
        (CONTROL, CONFIRMATIONS),
    ),
    # Claims and holds.
    Fault(
        "an approval that was used is given back",
        EVIDENCE,
        "        if self._open:\n            self._open = False\n            self._release()",
        "        if self.confirmation_id:\n            self._open = False\n            self._release()",
        (CLAIMS, CONFIRMATIONS, APPROVAL),
    ),
    Fault(
        "an approval that became void in a call's hands works again",
        STORE,
        "        if record.void:\n            self._expire_unused(record, actor=",
        "        if record is None:\n            self._expire_unused(record, actor=",
        (CLAIMS, CONFIRMATIONS, APPROVAL, T + "confirmations/test_given_back_late.py"),
    ),
    Fault(
        "what one of two waits for is withdrawn by the other",
        STORE,
        "        held.holders += 1\n",
        "        held.holders = 1\n",
        (CONFIRMATIONS, TOOLS),
    ),
    Fault(
        "taking a hold back twice takes back another's",
        STORE,
        "            record, held = held, None\n",
        "            record = held\n",
        (CONFIRMATIONS, TOOLS),
    ),
    # Worker threads and calls from them.
    Fault(
        "a handler for a worker thread holds the owner thread",
        PIPELINE + "_execution.py",
        "if isinstance(binding, ActionBinding) and binding.thread:",
        "if isinstance(binding, ActionBinding) and not binding:",
        (T + "pipeline/test_settlement.py", T + "pipeline/test_answers.py"),
    ),
    Fault(
        "what waits for a thread begins after the end of its call",
        PIPELINE + "_execution.py",
        "            work.cancel()\n",
        "            pass\n",
        (SETTLEMENT,),
    ),
    Fault(
        "a busy worker keeps the process alive",
        POOL,
        "daemon=True",
        "daemon=False",
        (WORKERS,),
    ),
    Fault(
        "a cancelled job runs all the same",
        POOL,
        "    if not future.set_running_or_notify_cancel():\n        return\n",
        "    future.set_running_or_notify_cancel()\n",
        (WORKERS, SETTLEMENT),
    ),
    Fault(
        "a pool that was shut down takes jobs",
        POOL,
        "            if self._closed:\n",
        "            if self._closed and self._workers < 0:\n",
        (WORKERS,),
    ),
    Fault(
        "another thread waits for ever when the registry closes",
        CORE + "registry/_threadsafe.py",
        "        for future in tuple(self._waiting):\n            future.registry_closed()\n",
        "        self._waiting.clear()\n",
        (THREADS,),
    ),
    # The chain of the audit file.
    Fault(
        "a line made anew is not found",
        AUDIT_CHAIN,
        "        if entry.prev != self.end.hash:\n",
        "        if not entry.prev:\n",
        (AUDIT_FILE, FORGED_LINES),
    ),
    Fault(
        "an altered line is not found",
        AUDIT_CHAIN,
        "    if digest != found[1].decode():\n        return None\n",
        "",
        (AUDIT_FILE, FORGED_LINES),
    ),
    Fault(
        "a line that was taken out is not told from one that was altered",
        AUDIT_CHAIN,
        "        if entry.seq != expected:\n",
        "        if entry.seq < 0:\n",
        (AUDIT_FILE, FORGED_LINES),
    ),
    Fault(
        "anything passes for what a crash left",
        AUDIT_CHAIN,
        '            and record.get("sha256") == torn.sha256\n',
        "",
        (FORGED_LINES, AUDIT_FILE),
    ),
    Fault(
        "the end of the file can be cut off",
        CORE + "audit/_jsonl.py",
        "        self._fsync = fsync\n        self._damaged = False\n        head = read_head(path)\n",
        "        self._fsync = fsync\n        self._damaged = False\n        head = None\n",
        (AUDIT_FILE, FORGED_LINES),
    ),
    Fault(
        "a new sink begins the chain anew",
        CORE + "audit/_jsonl.py",
        "        self._end = scan.end\n        self.torn = scan.torn\n",
        "        self._end = ChainEnd()\n        self.torn = scan.torn\n",
        (AUDIT_FILE,),
    ),
)
