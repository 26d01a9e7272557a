import assert from 'node:assert/strict';
import { IANAZone } from 'luxon';
import {
  parseDay,
  type Instant,
  instant,
  localDay,
  localTime,
  monthOf,
  parseMonth,
  parseRfc3339,
  toRfc3339,
} from '../../src/core/instant.js';
import { time } from '../../src/db/columns.js';

const DAY_MS = 86_400_000;
const shown = (at: Instant | null): string | null => (at === null ? null : toRfc3339(at));

describe('an instant', () => {
  it('is shown in RFC 3339, UTC, with milliseconds', () => {
    assert.equal(
      toRfc3339(instant(Date.UTC(2026, 10, 30, 4, 59, 59, 7))),
      '2026-11-30T04:59:59.007Z',
    );
  });

  it('is read with any offset', () => {
    for (const text of [
      '2026-11-30T05:00:00Z',
      '2026-11-30T00:00:00-05:00',
      '2026-11-30t10:30:00+05:30',
      '2026-11-30T05:00:00.000z',
      '2026-11-30T05:00:00-00:00',
    ])
      assert.equal(shown(parseRfc3339(text)), '2026-11-30T05:00:00.000Z', text);
  });

  it('finer than a millisecond is rounded towards the side that keeps an inclusive bound exact', () => {
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
    ...['', '2026-11-30', '2026-11-30T05:00Z', '2026-11-30T05:00:00'],
    ...['2026-11-30 05:00:00Z', '2026-02-30T00:00:00Z', '2026-13-01T00:00:00Z'],
    ...['2026-00-10T00:00:00Z', '2026-11-31T00:00:00Z', '2025-02-29T00:00:00Z'],
    ...['2026-11-30T24:00:00Z', '2026-11-30T25:00:00Z', '2026-11-30T05:60:00Z'],
    ...['2026-11-30T05:00:61Z', '2026-11-30T05:00:00.Z', '2026-11-30T05:00:00+5:00'],
    ...['2026-11-30T05:00:00+24:00', '2026-11-30T05:00:00+99:99'],
    ...['2026-11-30T05:00:00+05:60', '2026-11-30T05:00:00+0500', '+002026-11-30T05:00:00Z'],
    ...['2026-W48-1T05:00:00Z', '1796014800000', ' 2026-11-30T05:00:00Z'],
    ...['2026-11-30T05:00:00Z\n', '２０２６-11-30T05:00:00Z'],
  ];
  it('text that is not a date-time is not parsed as an instant', () => {
    for (const text of none) assert.equal(parseRfc3339(text), null, text);
  });

  it('the database accepts the first and last instants of the calendar, and instants a millisecond from them', () => {
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
});

const at = (text: string) => parseRfc3339(text)!;

describe('a month', () => {
  it('begins and ends in the time zone, to the millisecond', () => {
    const zone = 'America/Bogota';
    assert.equal(monthOf(at('2026-12-01T04:59:59.999Z'), zone).name, '2026-11');
    assert.equal(monthOf(at('2026-12-01T05:00:00.000Z'), zone).name, '2026-12');
    assert.equal(monthOf(at('2026-12-01T04:59:59.999Z'), zone).name, '2026-11');
    const { startsAt, endsAt } = monthOf(at('2026-11-15T00:00:00Z'), zone);
    assert.deepEqual(
      [toRfc3339(startsAt), toRfc3339(endsAt)],
      ['2026-11-01T05:00:00.000Z', '2026-12-01T05:00:00.000Z'],
    );
  });

  it('follows the clock changes of its zone', () => {
    const march = monthOf(at('2026-03-15T12:00:00Z'), 'America/New_York');
    assert.deepEqual(
      [toRfc3339(march.startsAt), toRfc3339(march.endsAt)],
      ['2026-03-01T05:00:00.000Z', '2026-04-01T04:00:00.000Z'],
    );
    assert.equal(monthOf(at('2026-04-01T03:59:59.999Z'), 'America/New_York').name, '2026-03');
    assert.equal(monthOf(at('2026-04-01T04:00:00Z'), 'America/New_York').name, '2026-04');
  });
});

describe('a day', () => {
  it('begins and ends in the time zone, also when a clock change shortens or lengthens it', () => {
    for (const [name, zone, from, to] of [
      ['2026-11-22', 'America/Bogota', '2026-11-22T05:00:00.000Z', '2026-11-23T05:00:00.000Z'],
      ['2026-03-08', 'America/New_York', '2026-03-08T05:00:00.000Z', '2026-03-09T04:00:00.000Z'],
      ['2026-11-01', 'America/New_York', '2026-11-01T04:00:00.000Z', '2026-11-02T05:00:00.000Z'],
    ] as const)
      assert.deepEqual(parseDay(name, zone), { from: at(from), to: at(to) }, name);
  });

  it('and a month start where the one before ends, in every zone and at every clock change', () => {
    const nameOf = (day: number): string => new Date(day).toISOString().slice(0, 10);
    for (const zone of Intl.supportedValuesOf('timeZone')) {
      const clock = IANAZone.create(zone);
      for (let day = Date.UTC(2026, 0, 1); day < Date.UTC(2027, 3, 1); day += DAY_MS) {
        if (clock.offset(day - DAY_MS) === clock.offset(day + DAY_MS)) continue;
        const name = nameOf(day);
        const period = parseDay(name, zone);
        assert(period !== null);
        const shownDays = [localDay(instant(period.from - 1), zone), localDay(period.from, zone)];
        assert.deepEqual(shownDays, [nameOf(day - DAY_MS), name], `${name} in ${zone}`);
        assert.equal(parseDay(nameOf(day - DAY_MS), zone)?.to, period.from, `${name} in ${zone}`);
        assert.equal(parseDay(nameOf(day + DAY_MS), zone)?.from, period.to, `${name} in ${zone}`);
        const month = monthOf(period.from, zone);
        assert.equal(monthOf(instant(month.startsAt - 1), zone).endsAt, month.startsAt, zone);
        assert.equal(monthOf(month.endsAt, zone).startsAt, month.endsAt, zone);
      }
    }
  });

  it('that begins at one o’clock, and one with two midnights, begin at their first moment', () => {
    for (const [name, zone, from] of [
      ['2026-03-08', 'America/Havana', '2026-03-08T05:00:00.000Z'],
      ['2026-11-01', 'America/Havana', '2026-11-01T04:00:00.000Z'],
      ['2026-04-24', 'Africa/Cairo', '2026-04-23T22:00:00.000Z'],
      ['2026-10-30', 'Africa/Cairo', '2026-10-29T22:00:00.000Z'],
      ['2026-10-25', 'Atlantic/Azores', '2026-10-25T00:00:00.000Z'],
    ] as const)
      assert.equal(toRfc3339(parseDay(name, zone)?.from ?? null), from, name);
    assert.equal(
      toRfc3339(parseMonth('2026-10', 'America/Havana')?.endsAt ?? null),
      '2026-11-01T04:00:00.000Z',
    );
    assert.equal(monthOf(at('2026-11-01T04:30:00Z'), 'America/Havana').name, '2026-11');
  });

  it('the name of a day has ten characters, and the day must exist', () => {
    for (const name of ['', '2026-02-30', '2026-1-1', '20261122', '2026-11-22T00:00', 'x'])
      assert.equal(parseDay(name, 'UTC'), null, name);
  });

  it('and its times are shown with the difference to UTC', () => {
    const moment = at('2026-07-01T02:03:04.567Z');
    assert.deepEqual(
      ['America/Bogota', 'UTC', 'Asia/Kathmandu'].map((zone) => localTime(moment, zone)),
      [
        '2026-06-30 21:03:04 UTC-05:00',
        '2026-07-01 02:03:04 UTC+00:00',
        '2026-07-01 07:48:04 UTC+05:45',
      ],
    );
  });

  it('the day before is the previous calendar day, even if a day has 23 hours', () => {
    const moment = at('2026-03-09T04:30:00Z');
    assert.deepEqual(
      [0, 1, 2].map((back) => localDay(moment, 'America/New_York', back)),
      ['2026-03-09', '2026-03-08', '2026-03-07'],
    );
    assert.equal(localDay(moment, 'America/Bogota'), '2026-03-08');
  });
});
