/** Places at which a fault test can end the process as a power cut would. */
export const LEDGER_FAILPOINTS = [
  'before_lock',
  'after_lock',
  'before_commit',
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
  /** How often the failpoint is passed before it ends the process, this time included. */
  readonly passing: number;
}

/** Global, because a bundled program has its own copy of this module. */
const shared: typeof globalThis & { armedFailpoint?: ArmedFailpoint } = globalThis;

/** Only for fault tests. */
export function armFailpoint(failpoint: ArmedFailpoint): void {
  shared.armedFailpoint = failpoint;
}

export class Failpoints {
  private passed = 0;

  constructor(private readonly armed: ArmedFailpoint | null = shared.armedFailpoint ?? null) {}

  /** Returns the function that ends the process, or null unless the failpoint is armed. */
  at(name: Failpoint): (() => void) | null {
    return this.armed?.name === name ? () => this.pass(name) : null;
  }

  pass(name: Failpoint): void {
    if (this.armed?.name !== name) return;
    this.passed += 1;
    if (this.passed === this.armed.passing) process.kill(process.pid, 'SIGKILL');
  }
}
