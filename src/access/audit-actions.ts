import type { Words } from '../core/literal-words.js';

/** The verbs of actions in the audit log by what the actions concern. */
const VERBS = {
  account: 'open close freeze unfreeze verify verification_replace change_metadata reset_clock',
  adjustment: 'propose approve reject',
  alias: 'set release reserve unreserve',
  approval_policy: 'set remove request withdraw take_effect',
  bonus: 'change_metadata',
  bonus_batch: 'pause resume cancel delete_upload',
  events: 'set_retention',
  fees: 'set remove',
  finding: 'acknowledge',
  item: 'take release',
  keys: 'rotate',
  limits: 'set clear',
  list: 'export',
  member: 'add remove',
  note: 'add',
  ops: 'refused',
  outbox: 'release rebuild',
  payin: 'record',
  payout:
    'approve reject cancel change_metadata retry void resolve_propose resolve_approve resolve_reject statement_take',
  payout_batch: 'pause resume cancel delete_upload',
  restore: 'notice begin finish gap',
  role: 'grant grant_everywhere remove request withdraw take_effect',
  schedule: 'pause resume cancel',
  staff:
    'set deactivate bind unbind sign_in session_revoke reset_propose reset_approve reset_withdraw replace_demo_factor',
  tenant: 'add set_quotas set_fee_account set_policy_delay',
  token: 'issue revoke rotate',
  transfer: 'approve reject cancel refund change_metadata',
  webhook: 'register change recover pause resume retry_now enable disable redeliver',
} as const;

type PerformedAction = {
  [Noun in keyof typeof VERBS]: `${Noun}.${Words<(typeof VERBS)[Noun]>}`;
}[keyof typeof VERBS];

/** The name of an action in the audit log. A refused attempt ends in `_refused`. */
export type AuditAction =
  PerformedAction | `${PerformedAction}_refused` | `${string}.change_metadata`;

export const PERFORMED_ACTIONS = Object.entries(VERBS).flatMap(([noun, verbs]) =>
  verbs.split(' ').map((verb) => `${noun}.${verb}`),
);

export const AUDIT_ACTIONS = PERFORMED_ACTIONS.flatMap((action) => [action, `${action}_refused`]);
