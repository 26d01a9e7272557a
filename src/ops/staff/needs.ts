import type { Command } from 'commander';
import { STAFF_RIGHTS, type StaffRight } from '../../db/entities/staff.js';
import { asksForCode, STAFF_ACTIONS, type StaffActionName } from '../../staff/rules.js';

/** A right, or a staff action, which implies one. */
export type Need = StaffRight | StaffActionName;

/** For commands whose input determines the need. Null: this input changes nothing. */
interface Choice<Input> {
  readonly among: readonly [Need, ...Need[]];
  readonly of: (input: Input) => Need | null;
}

/** `own proof`: signing in and out, which only require proving one's identity. */
export type Needs<Input> = Need | Choice<Input> | 'own proof';

export type DeclaredNeeds = 'nothing' | 'own proof' | readonly Need[];

const declared = new WeakMap<Command, DeclaredNeeds>();

/** Returns the need of a command: `nothing` if it only reads, undefined for a group. */
export function needsOf(command: Command): DeclaredNeeds | undefined {
  return declared.get(command);
}

export function declareNeeds(command: Command, needs: DeclaredNeeds): void {
  declared.set(command, needs);
}

export function namedNeeds<Input>(needs: Needs<Input>): DeclaredNeeds {
  if (needs === 'own proof') return needs;
  return typeof needs === 'string' ? [needs] : needs.among;
}

function isRight(need: Need): need is StaffRight {
  return (STAFF_RIGHTS as readonly string[]).includes(need);
}

export function rightOf(need: Need): StaffRight {
  return isRight(need) ? need : STAFF_ACTIONS[need].right;
}

/** Returns true if the user must prove their identity again, as one of two people. */
export function needsCode(need: Need): boolean {
  return !isRight(need) && asksForCode(need, 'ops');
}

export function refusedAction(need: Need): string {
  return isRight(need) ? 'ops.refused' : `${need}_refused`;
}
