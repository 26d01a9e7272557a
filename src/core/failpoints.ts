/** Places at which a fault test can end the process as a power cut would. */
export const LEDGER_FAILPOINTS = [
  'before_lock',
  'after_lock',
  'before_commit',
  'while_committing',
  'after_commit',
] as const;
export const OUTBOX_FAILPOINTS = ['before_outbox_start', 'after_outbox_start'] as const;
export const RAIL_FAILPOINTS = ['before_rail_call', 'after_rail_call'] as const;
export const WEBHOOK_FAILPOINTS = ['before_send', 'after_send'] as const;
export const FAILPOINTS = [
  ...LEDGER_FAILPOINTS,
  ...OUTBOX_FAILPOINTS,
  ...RAIL_FAILPOINTS,
  ...WEBHOOK_FAILPOINTS,
] as const;
export type Failpoint = (typeof FAILPOINTS)[number];

interface ArmedFailpoint {
  readonly name: Failpoint;
  /** Which pass of the failpoint ends the process: 1 is the first. */
  readonly passing: number;
}

/** Global, because a bundled program has its own copy of this module. */
const shared: typeof globalThis & { armedFailpoint?: ArmedFailpoint } = globalThis;
let passed = 0;

/** Only for fault tests. */
export function armFailpoint(armed: ArmedFailpoint): void {
  shared.armedFailpoint = armed;
}

export function isArmed(name: Failpoint): boolean {
  return shared.armedFailpoint?.name === name;
}

/** Ends the process if this failpoint is armed and this is its `passing`-th pass. */
export function failpoint(name: Failpoint): void {
  if (!isArmed(name)) return;
  passed += 1;
  if (passed === shared.armedFailpoint?.passing) process.kill(process.pid, 'SIGKILL');
}
