import assert from 'node:assert/strict';
import { time } from '../../src/db/columns.js';
import {
  type Instant,
  instant,
  maxInstant,
  parseRfc3339,
  toRfc3339,
} from '../../src/core/instant.js';

const shown = (at: Instant | null): string | null => (at === null ? null : toRfc3339(at));

describe('an instant', () => {
  it('an instant is shown in RFC 3339, UTC, with milliseconds', () => {
    assert.equal(
      toRfc3339(instant(Date.UTC(2026, 10, 30, 4, 59, 59, 7))),
      '2026-11-30T04:59:59.007Z',
    );
  });

  it('an instant is cut to whole milliseconds', () => {
    assert.equal(instant(1.999), 1);
  });

  it('an instant is read with any offset', () => {
    for (const text of [
      '2026-11-30T05:00:00Z',
      '2026-11-30T00:00:00-05:00',
      '2026-11-30t10:30:00+05:30',
      '2026-11-30T05:00:00.000z',
      '2026-11-30T05:00:00-00:00',
    ])
      assert.equal(shown(parseRfc3339(text)), '2026-11-30T05:00:00.000Z', text);
  });

  it('an instant is read whatever the time zone of the machine', () => {
    const before = process.env.TZ;
    try {
      for (const zone of ['America/Bogota', 'Asia/Kathmandu', 'UTC']) {
        process.env.TZ = zone;
        assert.equal(shown(parseRfc3339('2026-03-08T02:30:00Z')), '2026-03-08T02:30:00.000Z');
      }
    } finally {
      if (before === undefined) delete process.env.TZ;
      else process.env.TZ = before;
    }
  });

  it('an instant finer than a millisecond is rounded towards the side that keeps an inclusive bound exact', () => {
    const read = (fraction: string, round: 'up' | 'down'): string | null =>
      shown(parseRfc3339(`2026-11-30T05:00:00.${fraction}Z`, round));
    assert.equal(read('1234', 'down'), '2026-11-30T05:00:00.123Z');
    assert.equal(read('1234', 'up'), '2026-11-30T05:00:00.124Z');
    assert.equal(read('1230000', 'up'), '2026-11-30T05:00:00.123Z');
    assert.equal(read('9999999', 'up'), '2026-11-30T05:00:01.000Z');
    assert.equal(read('000000000000000001', 'up'), '2026-11-30T05:00:00.001Z');
    assert.equal(read('5', 'down'), '2026-11-30T05:00:00.500Z');
  });

  const none = [
    '',
    '2026-11-30',
    '2026-11-30T05:00Z',
    '2026-11-30T05:00:00',
    '2026-11-30 05:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-11-31T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '2026-11-30T24:00:00Z',
    '2026-11-30T25:00:00Z',
    '2026-11-30T05:60:00Z',
    '2026-11-30T05:00:61Z',
    '2026-11-30T05:00:00.Z',
    '2026-11-30T05:00:00+5:00',
    '2026-11-30T05:00:00+24:00',
    '2026-11-30T05:00:00+99:99',
    '2026-11-30T05:00:00+05:60',
    '2026-11-30T05:00:00+0500',
    '+002026-11-30T05:00:00Z',
    '2026-W48-1T05:00:00Z',
    '1796014800000',
    ' 2026-11-30T05:00:00Z',
    '2026-11-30T05:00:00Z\n',
    '２０２６-11-30T05:00:00Z',
  ];
  it('an instant is not read from text that names none', () => {
    for (const text of none) assert.equal(parseRfc3339(text), null, text);
  });

  it('an instant knows leap days', () => {
    assert.equal(shown(parseRfc3339('2028-02-29T00:00:00Z')), '2028-02-29T00:00:00.000Z');
  });

  it('an instant at either end of the calendar is accepted by the database, and so are those a millisecond from it', () => {
    for (const text of [
      '0000-01-01T00:00:00+23:59',
      '0001-01-01T00:00:00Z',
      '9999-12-31T23:59:59.9999Z',
      '9999-12-31T23:59:59-23:59',
    ])
      for (const round of ['up', 'down'] as const) {
        const at = parseRfc3339(text, round);
        assert(at !== null, text);
        for (const near of [at - 1, at, at + 1])
          assert.match(
            time.literal(instant(near)),
            /^'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}'$/,
            text,
          );
        assert.match(time.literal(at), /^'[1-9]/, text);
      }
  });

  it('an instant survives the database column', () => {
    const at = instant(Date.UTC(2026, 10, 30, 23, 59, 59, 999));
    assert.equal(time.literal(at), "'2026-11-30 23:59:59.999'");
    assert.equal(time.parse('2026-11-30 23:59:59.999'), at);
  });

  it('the latest of several instants is found', () => {
    assert.equal(maxInstant(instant(2), instant(5), instant(3)), 5);
  });
});
