import assert from 'node:assert/strict';
import { displayName } from '../../src/accounts/display-name.js';

describe('a display name', () => {
  for (const [name, shown] of [
    ['Ana María Pérez', 'Ana M. P.'],
    ['Ana', 'Ana'],
    ['Juan de la Cruz', 'Juan D. L. C.'],
    ['  Ana   Pérez ', 'Ana P.'],
    ['Óscar ñañez', 'Óscar Ñ.'],
    ['María-José O’Neill', 'María-José O.'],
    // The accent is a code point of its own: it belongs to its letter.
    ['Ana E\u0301lvira', 'Ana E\u0301.'],
    ['Ana 👩‍👩‍👧 Ruiz', 'Ana 👩‍👩‍👧. R.'],
    ['', ''],
  ] as const)
    it(`of a person ${JSON.stringify(name)} is ${JSON.stringify(shown)}`, () =>
      assert.equal(displayName('person', name), shown));

  it('of a business is its trade name', () =>
    assert.equal(displayName('business', 'Panadería La Nueva'), 'Panadería La Nueva'));
});
