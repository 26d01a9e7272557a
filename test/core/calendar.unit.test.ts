import assert from 'node:assert/strict';
import { dayNamed, isTimeZone, localDay, localTime, monthOf } from '../../src/core/calendar.js';
import { instant, parseRfc3339, toRfc3339 } from '../../src/core/instant.js';

const at = (text: string) => parseRfc3339(text)!;

describe('a month', () => {
  it('a month begins and ends in the time zone, to the millisecond', () => {
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

  it('a month follows the clock changes of its zone', () => {
    const march = monthOf(at('2026-03-15T12:00:00Z'), 'America/New_York');
    assert.deepEqual(
      [toRfc3339(march.startsAt), toRfc3339(march.endsAt)],
      ['2026-03-01T05:00:00.000Z', '2026-04-01T04:00:00.000Z'],
    );
    assert.equal(monthOf(at('2026-04-01T03:59:59.999Z'), 'America/New_York').name, '2026-03');
    assert.equal(monthOf(at('2026-04-01T04:00:00Z'), 'America/New_York').name, '2026-04');
  });

  it('a month of one zone is not that of another', () => {
    const moment = at('2026-12-31T23:30:00Z');
    assert.deepEqual(
      ['America/Bogota', 'UTC', 'Europe/Madrid', 'Pacific/Kiritimati'].map(
        (zone) => monthOf(moment, zone).name,
      ),
      ['2026-12', '2026-12', '2027-01', '2027-01'],
    );
  });

  it('a month is followed by the next without a gap, in every zone, for years', () => {
    for (const zone of [
      'America/Bogota',
      'Europe/Madrid',
      'Australia/Lord_Howe',
      'Asia/Kathmandu',
    ]) {
      let month = monthOf(at('2026-01-15T00:00:00Z'), zone);
      for (let count = 0; count < 60; count += 1) {
        const next = monthOf(month.endsAt, zone);
        assert.equal(next.startsAt, month.endsAt);
        assert.equal(monthOf(instant(month.endsAt - 1), zone).name, month.name);
        assert(next.name > month.name);
        month = next;
      }
    }
  });

  it('a month requires a time zone that exists', () => {
    assert.throws(() => monthOf(at('2026-11-15T00:00:00Z'), 'America/Atlantis'), RangeError);
    assert.deepEqual(['America/Bogota', 'UTC', 'America/Atlantis', '', 'local'].map(isTimeZone), [
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});

describe('a day', () => {
  it('a day begins and ends in the time zone, also when a clock change shortens or lengthens it', () => {
    for (const [name, zone, from, to] of [
      ['2026-11-22', 'America/Bogota', '2026-11-22T05:00:00.000Z', '2026-11-23T05:00:00.000Z'],
      ['2026-03-08', 'America/New_York', '2026-03-08T05:00:00.000Z', '2026-03-09T04:00:00.000Z'],
      ['2026-11-01', 'America/New_York', '2026-11-01T04:00:00.000Z', '2026-11-02T05:00:00.000Z'],
    ] as const)
      assert.deepEqual(dayNamed(name, zone), { from: at(from), to: at(to) }, name);
  });

  it('the name of a day has ten characters, and the day must exist', () => {
    for (const name of ['', '2026-02-30', '2026-1-1', '20261122', '2026-11-22T00:00', 'x'])
      assert.equal(dayNamed(name, 'UTC'), null, name);
  });

  it('a day and its times are shown with the difference to UTC', () => {
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
});

describe('a day in a time zone', () => {
  it('a day before is the calendar day before, also where a day has 23 hours', () => {
    const at = instant(Date.parse('2026-03-09T04:30:00Z'));
    assert.deepEqual(
      [0, 1, 2].map((back) => localDay(at, 'America/New_York', back)),
      ['2026-03-09', '2026-03-08', '2026-03-07'],
    );
    assert.equal(localDay(at, 'America/Bogota'), '2026-03-08');
  });
});
