/**
 * The page in each language, on a phone and on a desktop: no text is English, nothing is too wide, and the payer can
 * change the language. The tests take pictures, and with SVC_DOCS_PICTURES=1 they also write pictures to docs/pages.
 */
import { join } from 'node:path';
import { PATIENCE } from '@svc/testing';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { en } from '../apps/hosted-gateway/src/languages/en.js';
import { getLanguage, type Language, LANGUAGES } from '../apps/hosted-gateway/src/languages/languages.js';
import {
  axeFindings,
  closeContext,
  holdReturn,
  NOT_CONTRAST,
  screenshot,
  scrollsSideways,
  startBrowser,
} from './browser/browser.js';
import { PageStates } from './browser/page-states.js';
import { ROOT } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

const SHOP = 'http://127.0.0.1:9';
const PHONE = { width: 390, height: 844 };
const SIZES = [PHONE, { width: 1280, height: 800 }, { width: 320, height: 400 }];
const DOCS = process.env['SVC_DOCS_PICTURES'] === '1' ? join(ROOT, 'docs', 'pages') : undefined;
/** English texts that are too long to appear in another language by chance. */
const ENGLISH = textsOf(en)
  .flatMap((text) => text.split(/\{\w+\}/))
  .filter((text) => text.trim().length > 8);

let browser: Browser;
let states: PageStates;
let context: BrowserContext;
beforeAll(async () => {
  states = new PageStates(await sharedPlatform('embedded'));
  browser = await startBrowser();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  // The browser's language (English) differs from the session's language.
  context = await browser.newContext({ locale: 'en-ZA', timezoneId: 'Africa/Johannesburg', viewport: PHONE });
});
afterEach(() => closeContext(context));

async function newPage(url: string): Promise<Page> {
  const page = await context.newPage();
  await holdReturn(page, SHOP);
  await page.goto(url);
  return page;
}

const waitForText = (page: Page, text: string): Promise<void> =>
  page
    .getByText(text, { exact: true })
    .first()
    .waitFor({ state: 'visible', timeout: 30_000 * PATIENCE });

async function fillIn(page: Page, { messages: { form } }: Language, cardNumber: string): Promise<void> {
  await page.getByLabel(form.cardNumber, { exact: true }).fill(cardNumber);
  await page.getByLabel(form.expiry).fill('12 / 35');
  await page.getByLabel(form.cvv, { exact: true }).fill('123');
  await page.getByLabel(form.holderName).fill('Thandi Nkosi');
}

/** Returns the defects of the page in its current state, at each size. */
async function findDefects(page: Page, name: string): Promise<unknown[]> {
  const defects: unknown[] = [];
  const text = `${await page.title()} ${await page.locator('body').innerText()}`;
  defects.push(...ENGLISH.filter((english) => text.includes(english)));
  for (const size of SIZES) {
    await page.setViewportSize(size);
    if (await scrollsSideways(page)) defects.push(['too wide', size.width]);
    await screenshot(page, `page-${name}-${size.width}`);
  }
  await page.setViewportSize(PHONE);
  // All languages have the same colours.
  defects.push(...(await axeFindings(page, NOT_CONTRAST)));
  if (DOCS && /^(open|declined)-/.test(name))
    await page.screenshot({ path: join(DOCS, `${name}.png`), fullPage: true });
  return defects;
}

describe.each(LANGUAGES.filter(({ tag }) => tag !== 'en'))('in the language $tag', (language) => {
  const { tag, messages } = language;

  it('the page shows the form with errors, a decline and the receipt', async () => {
    const page = await newPage(await states.open({ locale: `${tag}-ZA`, amount: 123_456_789 }));
    expect(await page.evaluate(() => [document.documentElement.lang, document.documentElement.dir])).toEqual([
      tag,
      'ltr',
    ]);
    const amount = tag === 'af' ? 'R 1 234 567,89' : 'R 1 234 567.89';
    expect(await page.title()).toContain(amount);
    expect(await findDefects(page, `open-${tag}`)).toEqual([]);

    await page.locator('#pay-button').click();
    await waitForText(page, messages.fieldErrors.cardNumberMissing);
    expect(await findDefects(page, `mistakes-${tag}`)).toEqual([]);

    await fillIn(page, language, '4000 0000 0000 0002');
    await page.locator('#pay-button').click();
    await waitForText(page, messages.declines['10'].title);
    expect(await findDefects(page, `declined-${tag}`)).toEqual([]);

    await fillIn(page, language, '4242 4242 4242 4242');
    await page.locator('#pay-button').click();
    await waitForText(page, messages.paid.heading);
    await page.locator('#stay').click();
    // The time is in the payer's time zone and the page's language.
    expect(await page.locator('time').innerText()).toMatch(
      new RegExp(`^\\d+ (${messages.format.months.join('|')}) .* SAST$`),
    );
    expect(await findDefects(page, `succeeded-${tag}`)).toEqual([]);
  });

  it('the page shows a payment in progress, a finished session, and an address that does not exist', async () => {
    const closed = { cancelled: await states.cancelled(), expired: await states.expired() };
    for (const [name, url] of [
      ['processing', await states.processing()],
      ['not-found', states.notFound()],
      ['unknown-code', states.unknownCode()],
      ...Object.entries(closed),
    ] as const) {
      const page = await newPage(`${url}${url.includes('?') ? '&' : '?'}lang=${tag}`);
      expect([name, await findDefects(page, `${name}-${tag}`)]).toEqual([name, []]);
      await page.close();
    }
  });
});

it('a link changes the language: the session stays, and the page asks before it discards input', async () => {
  const page = await newPage(await states.open());
  const { number, zulu } = {
    number: page.getByLabel('Card number'),
    zulu: page.getByRole('link', { name: 'isiZulu' }),
  };
  await number.fill('4242 4242');
  const dialogs: string[] = [];
  let acceptsDialog = false;
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void (acceptsDialog ? dialog.accept() : dialog.dismiss());
  });
  await page.locator('#languages summary').click();
  expect(await axeFindings(page)).toEqual([]);
  await screenshot(page, 'page-languages-open');
  await zulu.click();
  expect([dialogs, await number.inputValue()]).toEqual([[en.language.confirmLanguageChange], '4242 4242']);
  acceptsDialog = true;
  await zulu.click();
  const { messages } = getLanguage('zu');
  await waitForText(page, messages.form.heading);
  expect(new URL(page.url()).searchParams.get('lang')).toBe('zu');
  // Without input the page does not ask. The script's requests keep the language.
  await page.locator('#languages summary').click();
  await page.getByRole('link', { name: 'Sesotho' }).click();
  await waitForText(page, getLanguage('st').messages.form.heading);
  expect(dialogs).toHaveLength(2);
  await fillIn(page, getLanguage('st'), '4000 0000 0000 0002');
  await page.locator('#pay-button').click();
  await waitForText(page, getLanguage('st').messages.declines['10'].title);
  await page.reload();
  await waitForText(page, getLanguage('st').messages.declines['10'].title);
});

it('the language can be changed without script', async () => {
  await closeContext(context);
  context = await browser.newContext({ locale: 'af-ZA', javaScriptEnabled: false, viewport: PHONE });
  const page = await newPage(await states.open());
  await waitForText(page, getLanguage('af').messages.form.heading);
  await page.locator('#languages summary').click();
  await page.getByRole('link', { name: 'isiXhosa' }).click();
  await waitForText(page, getLanguage('xh').messages.form.heading);
  expect(new URL(page.url()).searchParams.get('lang')).toBe('xh');
});

function textsOf(tree: unknown): string[] {
  return typeof tree === 'string' ? [tree] : Object.values(tree as object).flatMap(textsOf);
}
