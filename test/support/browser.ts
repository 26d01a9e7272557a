import assert from 'node:assert/strict';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { Staff } from '../../src/db/entities/staff.js';
import type { TestDesk } from './desk.js';

export const DESKTOP = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };

/** Starts Chromium. Returns null if this machine has none. */
export async function openBrowser(): Promise<Browser | null> {
  const executablePath = process.env.TEST_CHROMIUM;
  if (executablePath === undefined) return null;
  // Root, which containers have, gets no sandbox.
  return chromium.launch({
    executablePath,
    chromiumSandbox: false,
    args: ['--disable-dev-shm-usage'],
  });
}

/** Fills in the form of the sign-in page that is open. */
export async function fillSignIn(page: Page, desk: TestDesk, person: Staff): Promise<void> {
  await page.getByLabel('Name').fill(person.name);
  await page.getByLabel('Code').fill(await desk.freshCode(person));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((url) => !url.pathname.startsWith('/sign-in'));
}

export async function signInAt(page: Page, desk: TestDesk, person: Staff): Promise<void> {
  await page.goto(`${desk.url}/`);
  await fillSignIn(page, desk, person);
  assert.equal(await page.locator('h1').textContent(), 'Needs attention');
}
