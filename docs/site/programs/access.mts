import { MoneyClient } from 'money-movement-client';

const { SVC_URL: baseUrl = '', SVC_TOKEN: token = '' } = process.env;
const client = new MoneyClient({ baseUrl, token });
// Store the keys before the first request; repeat each request with the same key.
const newKey = (): string => crypto.randomUUID();
const keys = { account: newKey(), member: newKey(), token: newKey() };
const opened = { type: 'business', name: 'Acme Cali' } as const;
const account = await client.openAccount(opened, { idempotencyKey: keys.account });
const named = { name: `accountant of ${account.id}` };
const member = await client.createMember(named, { idempotencyKey: keys.member });
const { role } = await client.setRole(account.id, member.id, { role: 'viewer' });
const order = { member_id: member.id, scopes: ['read' as const], name: 'report of the month' };
const issued = await client.createToken(order, { idempotencyKey: keys.token });
const reader = new MoneyClient({ baseUrl, token: issued.token ?? '' });
const { items } = await reader.listAccounts().page();
console.log(account.id, role, items.length);
await client.deleteToken(issued.key_id, { cascade: 'true' });
await client.deleteMember(member.id);
