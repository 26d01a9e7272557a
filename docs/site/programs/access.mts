import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { MoneyClient } from 'money-movement-client';

const { SVC_URL: baseUrl = '', SVC_TOKEN: token = '' } = process.env;
const client = new MoneyClient({ baseUrl, token });
// The keys are stored before the first request. In your program, a row takes the place of the file.
const FILE = 'access.json';
const newKeys = { account: randomUUID(), member: randomUUID(), token: randomUUID() };
if (!existsSync(FILE)) writeFileSync(FILE, JSON.stringify(newKeys), { flush: true });
const keys: typeof newKeys = JSON.parse(readFileSync(FILE, 'utf8'));
const opened = { type: 'business', name: 'Acme Cali' } as const;
const account = await client.openAccount(opened, { idempotencyKey: keys.account });
const named = { name: `accountant of ${account.id}` };
const member = await client.createMember(named, { idempotencyKey: keys.member });
const { role } = await client.setRole(account.id, member.id, { role: 'viewer' });
const order = { member_id: member.id, scopes: ['read' as const], name: 'report of the month' };
const issued = await client.createToken(order, { idempotencyKey: keys.token });
if (issued.token === null)
  throw new Error(
    'shown in an earlier response only: revoke it, and create another with a new key',
  );
const reader = new MoneyClient({ baseUrl, token: issued.token });
const { items } = await reader.listAccounts().page();
console.log(account.id, role, items.length);
await client.deleteToken(issued.key_id, { cascade: 'true' });
await client.deleteMember(member.id);
rmSync(FILE);
