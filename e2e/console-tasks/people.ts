/** The people of a merchant in the console. They join over HTTP, so that each test begins with its task. */
import { randomInt } from 'node:crypto';
import type { Role } from '@svc/contracts';
import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { connectForDemo } from '../../tools/svc/demo/seed.ts';
import type { MerchantSite, Platform } from '../platform/platform.js';

const PASSWORD = 'a long password of Lindiwe';

export interface Person {
  readonly role: Role;
  /** Undefined for all sites of the merchant. */
  readonly siteId: number | undefined;
  /** A page of the browser in which the person is signed in. */
  readonly page: Page;
  /** The address of the merchant's first page in test mode. */
  readonly start: string;
}

/** Invites a person, who joins in the browser of this page with a second factor. */
export async function joinMerchant(
  platform: Platform,
  page: Page,
  { merchant: { merchantId } }: Pick<MerchantSite, 'merchant'>,
  role: Role,
  siteId: number | undefined,
): Promise<Person> {
  const { adminUrl, adminKey, consoleUrl } = platform.demo;
  const email = `${role}-${randomInt(1e9)}@karoo.example`;
  const place = siteId === undefined ? {} : { siteId };
  const { path } = (await connectForDemo(adminUrl, adminKey).call('POST', `/merchants/${merchantId}/people`, {
    ...{ email, role },
    ...place,
  })) as { path: string };
  const html = await acceptInvitation(page, consoleUrl + path, 'Lindiwe Dube');
  const totp = new TOTP({ secret: Secret.fromBase32(readField(html, 'secret')) });
  const setUp = { csrf: readField(html, 'csrf'), code: totp.generate() };
  const { url } = await sendForm(page, `${consoleUrl}/account/second-factor`, setUp);
  const start = `${consoleUrl}/${merchantId}/test`;
  expect(url).toBe(start);
  return { role, siteId, page, start };
}

/** @returns the page on which a new person sets the second factor up */
export async function acceptInvitation(page: Page, link: string, name: string): Promise<string> {
  const { url, html } = await sendForm(page, link, { name, password: PASSWORD });
  expect(new URL(url).pathname).toBe('/account/second-factor');
  return html;
}

/** Sends a form in the session of this browser, and returns the page to which the console redirects. */
async function sendForm(
  page: Page,
  action: string,
  form: Record<string, string>,
): Promise<{ readonly url: string; readonly html: string }> {
  const answer = await page.request.post(action, { form, headers: { 'sec-fetch-site': 'same-origin' } });
  expect([action, answer.status()]).toEqual([action, 200]);
  return { url: answer.url(), html: await answer.text() };
}

function readField(html: string, name: string): string {
  const value = new RegExp(`name="${name}" value="([^"]+)"`).exec(html)?.[1];
  if (value === undefined) throw new Error(`The page has no field "${name}".`);
  return value;
}
