import { Foundation1763683200000 } from './1763683200000-foundation.js';
import { AccountsAndAccess1763690000000 } from './1763690000000-accounts-and-access.js';
import { Approvals1763700000000 } from './1763700000000-approvals.js';
import { Webhooks1763710000000 } from './1763710000000-webhooks.js';
import { Bonuses1763720000000 } from './1763720000000-bonuses.js';
import { BonusBatches1763720100000 } from './1763720100000-bonus-batches.js';
import { Payouts1763730000000 } from './1763730000000-payouts.js';
import { PayoutAttempts1763740000000 } from './1763740000000-payout-attempts.js';
import { PayoutAttemptsOfBefore1763740100000 } from './1763740100000-payout-attempts-of-before.js';
import { RailStatements1763741000000 } from './1763741000000-rail-statements.js';
import { BatchWithdrawal1763742000000 } from './1763742000000-batch-withdrawal.js';
import { Decisions1763743000000 } from './1763743000000-decisions.js';
import { RecipientBudgets1763744100000 } from './1763744100000-recipient-budgets.js';
import { Quotas1763745000000 } from './1763745000000-quotas.js';
import { AuditChain1763746000000 } from './1763746000000-audit-chain.js';
import { TokenUses1763746100000 } from './1763746100000-token-uses.js';
import { BatchFiles1763746300000 } from './1763746300000-batch-files.js';
import { OwnRecipientBudgets1763746400000 } from './1763746400000-own-recipient-budgets.js';
import { ExpiriesOfHolds1763746500000 } from './1763746500000-expiries-of-holds.js';
import { FewerIndexes1763746510000 } from './1763746510000-fewer-indexes.js';
import { VerifiedStaff1763746600000 } from './1763746600000-verified-staff.js';
import { PolicyDelay1763746700000 } from './1763746700000-policy-delay.js';
import { StaffOfAProvider1763746710000 } from './1763746710000-staff-of-a-provider.js';
import { Statements1763746800000 } from './1763746800000-statements.js';
import { Requests1763746810000 } from './1763746810000-requests.js';
import { SentFromTheLog1763746820000 } from './1763746820000-sent-from-the-log.js';
import { RailBreakers1763746830000 } from './1763746830000-rail-breakers.js';
import { SharedSweeps1763746840000 } from './1763746840000-shared-sweeps.js';
import { Traces1763746850000 } from './1763746850000-traces.js';
import { StandingAudit1763746851000 } from './1763746851000-standing-audit.js';
import { Restores1763746860000 } from './1763746860000-restores.js';
import { UnpaidRows1763746870000 } from './1763746870000-unpaid-rows.js';
import { ContradictionsSeen1763746875000 } from './1763746875000-contradictions-seen.js';
import { RefusedBatches1763746876000 } from './1763746876000-refused-batches.js';
import { EarlierPayments1763746877000 } from './1763746877000-earlier-payments.js';
import { HiddenRows1763746880000 } from './1763746880000-hidden-rows.js';
import { SupersededLines1763746890000 } from './1763746890000-superseded-lines.js';

/** Every change of the schema, oldest first. */
export const migrations = [
  Foundation1763683200000,
  AccountsAndAccess1763690000000,
  Approvals1763700000000,
  Webhooks1763710000000,
  Bonuses1763720000000,
  BonusBatches1763720100000,
  Payouts1763730000000,
  PayoutAttempts1763740000000,
  PayoutAttemptsOfBefore1763740100000,
  RailStatements1763741000000,
  BatchWithdrawal1763742000000,
  Decisions1763743000000,
  RecipientBudgets1763744100000,
  Quotas1763745000000,
  AuditChain1763746000000,
  TokenUses1763746100000,
  BatchFiles1763746300000,
  OwnRecipientBudgets1763746400000,
  ExpiriesOfHolds1763746500000,
  FewerIndexes1763746510000,
  VerifiedStaff1763746600000,
  PolicyDelay1763746700000,
  StaffOfAProvider1763746710000,
  Statements1763746800000,
  Requests1763746810000,
  SentFromTheLog1763746820000,
  RailBreakers1763746830000,
  SharedSweeps1763746840000,
  Traces1763746850000,
  StandingAudit1763746851000,
  Restores1763746860000,
  UnpaidRows1763746870000,
  ContradictionsSeen1763746875000,
  RefusedBatches1763746876000,
  EarlierPayments1763746877000,
  HiddenRows1763746880000,
  SupersededLines1763746890000,
];
