import { MoneyClient } from 'money-movement-client';

const { SVC_URL: baseUrl = '', SVC_TOKEN: token = '' } = process.env;
const client = new MoneyClient({ baseUrl, token });
const account = await client.openAccount({ type: 'business', name: 'Acme Cali' });
const member = await client.createMember({ name: `accountant of ${account.id}` });
const { role } = await client.setRole(account.id, member.id, { role: 'viewer' });
const issued = await client.createToken({
  member_id: member.id,
  scopes: ['read'],
  name: 'report of the month',
});
const reader = new MoneyClient({ baseUrl, token: issued.token ?? '' });
const { items } = await reader.listAccounts().page();
console.log(account.id, role, items.length);
await client.deleteToken(issued.key_id, { cascade: 'true' });
await client.deleteMember(member.id);
