/** The console in a real browser: people who join, and pages that are looked at in all their appearances. */
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import type { OperatorRole, Role } from '@svc/contracts';
import { Secret, TOTP } from 'otpauth';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import sharp from 'sharp';
import type { MerchantSite, Platform } from '../platform/platform.js';
import { axeFindings, closeContext, recordPageErrors, screenshot, scrollsSideways, startBrowser } from './browser.js';

const PASSWORD = 'a long password of Lindiwe';
export const DESKTOP = { width: 1280, height: 900 };
export const PHONE = { width: 390, height: 844 };
/** Enough for flat pages. With all colours the files would be three times as large. */
const COLOURS = 64;
/** CSS pixels: the beginning of a long list is enough. */
const MAX_HEIGHT = 1_400;
const APPEARANCES = [
  { suffix: '-phone-dark', size: PHONE, colorScheme: 'dark' },
  { suffix: '-dark', size: DESKTOP, colorScheme: 'dark' },
  { suffix: '-phone', size: PHONE, colorScheme: 'light' },
  { suffix: '', size: DESKTOP, colorScheme: 'light' },
] as const;

export interface JoinedPerson {
  readonly email: string;
  readonly password: string;
  readonly totp: TOTP;
}

export class ConsoleBrowser {
  private readonly contexts: BrowserContext[] = [];
  private readonly pageErrors: string[][] = [];

  private constructor(
    private readonly platform: Platform,
    private readonly browser: Browser,
  ) {}

  static async start(platform: Platform): Promise<ConsoleBrowser> {
    return new ConsoleBrowser(platform, await startBrowser());
  }

  /** A page in a browser of its own, without a session. */
  async openPage(): Promise<Page> {
    const context = await this.browser.newContext({ viewport: DESKTOP, locale: 'en-ZA' });
    this.contexts.push(context);
    this.pageErrors.push(recordPageErrors(context));
    return context.newPage();
  }

  /**
   * Invites a person to the merchant, or to one of its sites. The person chooses a password, adds an authenticator app and
   * sees the first page.
   */
  async acceptInvitation(
    page: Page,
    { merchant }: Pick<MerchantSite, 'merchant'>,
    role: Role,
    siteId?: number,
  ): Promise<JoinedPerson> {
    const place = siteId === undefined ? String(merchant.merchantId) : `${merchant.merchantId}/${siteId}`;
    const person = await this.join(page, role, (email) => ['people', 'invite', place, email, role]);
    await page.getByRole('heading', { name: /^Today/ }).waitFor();
    return person;
  }

  /** Invites an operator, who joins as other people do and sees the first page of operators. */
  async acceptOperatorInvitation(page: Page, role: OperatorRole): Promise<void> {
    await this.join(page, role, (email) => ['operators', 'invite', email, `--role=${role}`]);
    await page.getByRole('heading', { name: 'Operation of the platform' }).waitFor();
  }

  private async join(page: Page, name: string, invite: (email: string) => readonly string[]): Promise<JoinedPerson> {
    const email = `${name}-${randomInt(1e9)}@karoo.example`;
    const { code, output } = await this.platform.svc('admin', ...invite(email));
    expect([code, output]).toEqual([0, output]);
    await page.goto(this.platform.demo.consoleUrl + /\/invitations\/[\w-]+/.exec(output)![0]);
    await page.getByLabel('Your name').fill('Lindiwe Dube');
    await page.getByLabel('Choose a password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Join' }).click();
    await page.getByRole('heading', { name: 'Protect your account' }).waitFor();
    const key = (await page.locator('code.key').textContent())!.replaceAll(' ', '');
    const totp = new TOTP({ secret: Secret.fromBase32(key) });
    await page.getByLabel('Then enter the six digits').fill(totp.generate());
    await page.getByRole('button', { name: 'Confirm' }).click();
    return { email, password: PASSWORD, totp };
  }

  /**
   * Requires that axe finds nothing, on a desktop, on a phone and in dark colours, and that the page does not scroll
   * sideways.
   */
  async expectAccessible(page: Page, name: string): Promise<void> {
    for (const appearance of APPEARANCES) {
      await page.emulateMedia({ colorScheme: appearance.colorScheme });
      await page.setViewportSize(appearance.size);
      expect([name, await axeFindings(page), await scrollsSideways(page)]).toEqual([name, [], false]);
      await screenshot(page, name + appearance.suffix);
    }
  }

  /** Writes pictures of the page in all appearances to a folder. */
  async takePictures(page: Page, folder: string, name: string): Promise<void> {
    for (const { colorScheme, size, suffix } of APPEARANCES) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(size);
      const height = Math.min(await page.evaluate(() => document.documentElement.scrollHeight), MAX_HEIGHT);
      const clip = { x: 0, y: 0, width: size.width, height };
      const picture = await page.screenshot({ fullPage: true, clip });
      await sharp(picture)
        .png({ palette: true, colours: COLOURS })
        .toFile(join(folder, `${name}${suffix}.png`));
    }
  }

  /** Closes the pages of a test, which must not have had any error. */
  async closePages(): Promise<void> {
    await Promise.all(this.contexts.splice(0).map(closeContext));
    expect(this.pageErrors.splice(0).flat()).toEqual([]);
  }

  async stop(): Promise<void> {
    await this.browser.close();
  }
}
