/**
 * A shop pays out its sellers: `node main.ts orders.json`. The file is the shop's database: it
 * stores a payout's key before the request, and its id and status afterwards. Run it again after a
 * crash, and it continues where it was.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import {
  type components,
  isApiError,
  MoneyClient,
  UnknownResultError,
} from 'money-movement-client';

type NewPayout = components['schemas']['CreatePayout'];

interface Order {
  readonly seller: Extract<NewPayout['destination'], { type: 'bank_account' }>;
  /** Centavos, as text: JSON has no bigint. */
  readonly centavos: string;
  key?: string;
  payout?: string;
  status?: string;
}
interface Shop {
  readonly source_account: string;
  readonly orders: Order[];
}

const [file = 'orders.json'] = process.argv.slice(2);
const { SVC_URL: baseUrl = '', SVC_TOKEN: token = '' } = process.env;
const client = new MoneyClient({ baseUrl, token });
const shop = JSON.parse(readFileSync(file, 'utf8')) as Shop;
const ENDED = ['completed', 'failed', 'returned', 'rejected', 'canceled', 'refused'];

/** Writes the whole file or nothing, whenever this program is stopped. */
function save(): void {
  writeFileSync(`${file}.new`, JSON.stringify(shop, null, 2));
  renameSync(`${file}.new`, file);
}

async function payOut(order: Order): Promise<void> {
  if (order.key === undefined) {
    order.key = crypto.randomUUID();
    save();
  }
  try {
    const { id, status } = await client.createPayout(
      {
        source_account: shop.source_account,
        destination: order.seller,
        amount: { raw: BigInt(order.centavos), asset: 'COPM' },
        description: 'Your sales',
      },
      { idempotencyKey: order.key },
    );
    Object.assign(order, { payout: id, status });
  } catch (error) {
    // The next run tries again with the stored key.
    if (error instanceof UnknownResultError)
      return console.log(`unknown, ask again: ${error.message}`);
    if (!isApiError(error) || error.status !== 422) throw error;
    order.status = 'refused';
    console.log(`refused: ${error.code}, ${error.message}`);
  }
  save();
}

const open = (): Order[] => shop.orders.filter(({ status = '' }) => !ENDED.includes(status));

const before = await client.headOfEvents();
for (const order of open()) await payOut(order);
// Payouts that ended before we follow the log from here.
for (const order of open())
  if (order.payout !== undefined) order.status = (await client.getPayout(order.payout)).status;
save();

const signal = AbortSignal.timeout(60_000);
if (open().length > 0)
  for await (const { event } of client.followEvents({ from: before, signal })) {
    const { object } = event.data;
    const order = shop.orders.find(({ payout }) => 'id' in object && payout === object.id);
    if (order !== undefined && 'status' in object) order.status = object.status;
    save();
    if (open().length === 0) break;
  }
for (const { seller, status } of shop.orders) console.log(`${seller.holder_name}: ${status}`);
