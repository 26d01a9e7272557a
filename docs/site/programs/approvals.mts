import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { MoneyClient } from 'money-movement-client';

const { SVC_URL: baseUrl = '', SVC_TOKEN = '', APPROVER_TOKEN = '' } = process.env;
const client = new MoneyClient({ baseUrl, token: SVC_TOKEN });
const guarded = await client.lookUpAccount({ alias: '$acme-guarded' });
const recipient = await client.lookUpAccount({ alias: '$bruno' });
const order = {
  source_account: guarded.account_id,
  destination: { type: 'account', account_id: recipient.account_id },
  amount: { raw: 2_500_000n, asset: 'COPM' },
} as const;
// The keys are stored before the first request. In your program, the order's row takes the place of the file.
const FILE = 'order-1043.json';
const newKeys = { create: randomUUID(), approve: randomUUID() };
if (!existsSync(FILE)) writeFileSync(FILE, JSON.stringify(newKeys), { flush: true });
const keys: typeof newKeys = JSON.parse(readFileSync(FILE, 'utf8'));
const transfer = await client.createTransfer(order, { idempotencyKey: keys.create });
console.log(transfer.id, transfer.status);

// The other member's program.
const approver = new MoneyClient({ baseUrl, token: APPROVER_TOKEN });
const approved = await approver.approveTransfer(transfer.id, { idempotencyKey: keys.approve });
console.log(approved.id, approved.status);
