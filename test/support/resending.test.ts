import assert from 'node:assert/strict';
import { parseDetails } from '../../src/access/audit-log.js';
import { idLiteral, LEAST, text } from '../helpers/bank.js';
import { openGuarded } from '../helpers/guarded.js';
import { register } from '../webhooks/support.js';
import { findForm, openDesk } from './desk.js';

const { db, desk, api, maria } = await openDesk();

describe('the webhooks of a transfer at the support desk', () => {
  /** A transfer whose event no endpoint has read yet. */
  async function transferred(urls: readonly string[]) {
    const { bank, guarded: from, receiver: to } = await openGuarded(api);
    for (const url of urls) await register(bank, ['transfer.completed'], url);
    await register(bank, ['account.verified'], 'https://other.example/');
    const id = text((await bank.sent({ from, to, raw: LEAST })).id);
    const { text: page } = await maria.get(`/transfers/${id}`);
    const [, event = ''] = /href="(\/events\/[0-9a-f-]{36})\/resend"/.exec(page) ?? [];
    return { id, page, event, receiver: to, eventId: event.slice('/events/'.length) };
  }

  const set = (url: string, change: string): Promise<unknown> =>
    db.sql(`UPDATE webhook_endpoints SET ${change} WHERE url='${url}'`);
  const rowsOf = (page: string, url: string): readonly string[] =>
    page.split('<tr>').filter((row) => row.includes(`>${url}</a>`));
  const read = 'cursor_sequence=1000000';

  it('the page of a transfer shows its webhooks also while they wait, and why', async () => {
    const urls = ['paused', 'failing', 'off', 'idle'].map((name) => `https://${name}.example/`);
    const [paused = '', failing = '', off = '', idle = ''] = urls;
    const { id, page: before } = await transferred(urls);
    for (const url of urls) {
      const [row = '', ...others] = rowsOf(before, url);
      assert.match(row, />pending</);
      assert.deepEqual(others, []);
    }
    assert(!before.includes('https://other.example/'));
    await set(paused, `paused_at=NOW(3), paused_by='maria'`);
    await set(failing, `failing_since=NOW(3), probe_at='2031-05-06 07:08:09'`);
    await set(off, `status='disabled', disabled_at=NOW(3), disabled_reason='by_operator'`);
    await set(idle, read);
    const { text: page } = await maria.get(`/transfers/${id}`);
    assert.match(rowsOf(page, paused)[0] ?? '', /maria has paused the endpoint/);
    assert.match(
      rowsOf(page, failing)[0] ?? '',
      /gets one delivery at a time[^]*datetime="2031-05-06T07:08:09/,
    );
    assert.match(rowsOf(page, off)[0] ?? '', /The endpoint is disabled/);
    assert.deepEqual(rowsOf(page, idle), []);
  });

  it('staff resend an event once for each form, with a line in the audit log that the page of the transfer shows', async () => {
    const url = 'https://resent.example/';
    const { id, event, eventId, receiver } = await transferred([url]);
    await set(url, read);
    const form = { ...(await maria.form(event, 'resend')), reason: 'Asked for in ticket 118' };
    for (const state of ['pending', 'failed']) {
      const { status, headers } = await maria.post(`${event}/resend`, form);
      assert.equal(status, 303);
      const { text: shown } = await maria.get(headers.get('location') ?? '');
      assert.match(
        shown,
        new RegExp(
          `is being sent again.*<dt>Sent again</dt><dd><time.*<dt>Outcome so far</dt><dd><p><span class="tag \\w+">${state}</span> ${url}</p></dd>`,
          's',
        ),
      );
      await db.sql(
        `UPDATE webhook_deliveries SET state='failed', next_attempt_at=NULL, finished_at=NOW(3) WHERE event_id=${idLiteral(eventId)}`,
      );
    }
    const { text: page } = await maria.get(`/transfers/${id}`);
    const [row = '', ...others] = rowsOf(page, url);
    assert.match(row, />sent again</);
    assert.deepEqual(others, []);
    assert.match(page, /Webhook sent again[^]*maria[^]*“Asked for in ticket 118”/);
    const about = `href="/transfers/${id}">Transfer of 1,000.00 COPM to ${receiver.name}</a>`;
    const { text: ofEvent } = await maria.get(event);
    assert(ofEvent.includes(about), ofEvent);
    const { text: decided } = await maria.get('/decided');
    const item = `href="/events/${eventId}">event transfer.completed of 1,000.00 COPM</a>`;
    assert(decided.includes(item), decided);
    const lines = await desk.acts(eventId);
    assert.deepEqual(
      lines.map((line) => [line.action, line.actorClaimed, parseDetails(line)]),
      [['webhook.redeliver', 'maria', { reason: 'Asked for in ticket 118' }]],
    );
  });

  it('the page of an event shows the payload that webhooks carry, to the byte and with line breaks', async () => {
    const { event, eventId } = await transferred(['https://payload.example/']);
    const [row] = await db.sql(`SELECT body FROM events WHERE id=${idLiteral(eventId)}`);
    const body = text(row?.body);
    const { text: page } = await maria.get(event);
    const [pretty = '', sent = ''] = Array.from(
      page.matchAll(/<pre[^>]*>([^<]*)<\/pre>/g),
      ([, shown = '']) => shown.replaceAll('&quot;', '"').replaceAll('&#39;', "'"),
    );
    assert.equal(sent, body);
    assert.equal(pretty, JSON.stringify(JSON.parse(body), null, 2));
    assert(page.includes(`As it is sent: ${Buffer.byteLength(body)} bytes`), page);
  });

  it('an event to whose type no endpoint can subscribe is not offered to be sent again', async () => {
    const own = await openGuarded(api);
    const id = text((await own.createPending()).id);
    await own.act('reject', id, 'approver');
    const { text: page } = await maria.get(`/transfers/${id}`);
    const [, event = ''] = /href="(\/events\/[^"]*)">transfer\.rejected</.exec(page) ?? [];
    assert(event !== '' && !page.includes('Resend'), page);
    assert.equal(findForm((await maria.get(`${event}/resend`)).text, `${event}/resend`), null);
  });

  it('an event that every endpoint will still get is not sent again', async () => {
    const { event, eventId } = await transferred(['https://behind.example/']);
    const answer = await maria.act(event, 'resend', { reason: 'Asked for' });
    assert.equal(answer.status, 409);
    assert.match(
      answer.text,
      /Nothing was changed:<\/strong> no endpoint is left, because each is disabled/,
    );
    const [line] = await desk.acts(eventId);
    assert.equal(line?.action, 'webhook.redeliver_refused');
    assert.equal((await maria.get(`/events/${eventId}/nonsense`)).status, 404);
  });
});
