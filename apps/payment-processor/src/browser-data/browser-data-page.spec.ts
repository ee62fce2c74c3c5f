import { createContext, runInContext } from 'node:vm';
import { BROWSER_DATA_SCRIPT, type BrowserDataPage, renderBrowserDataPage } from './browser-data-page.js';

const PAGE: BrowserDataPage = { merchantName: 'Karoo Books', amount: 12345, currencyISOCode: 'ZAR' };

/** Runs the script of the page, and returns the value of the form's field. */
function runScript(globals: Record<string, unknown>): string {
  const field = { value: '' };
  runInContext(
    BROWSER_DATA_SCRIPT,
    createContext({ document: { forms: [{ elements: { browser: field } }] }, ...globals }),
  );
  return field.value;
}

test('the script writes the data of the browser to the form', () => {
  const sent = runScript({
    navigator: { language: 'zu-ZA', userAgent: 'not sent' },
    screen: { width: 390, height: 844, colorDepth: 30, orientation: 'not sent' },
    Date: class {
      getTimezoneOffset = (): number => -120;
    },
  });
  expect(JSON.parse(sent)).toEqual({
    language: 'zu-ZA',
    screenWidth: 390,
    screenHeight: 844,
    colorDepth: 30,
    timeZoneOffsetMinutes: -120,
  });
});

test('in a browser that does not provide the data, the field stays empty', () => {
  expect(runScript({ navigator: { language: 'zu-ZA' } })).toBe('');
});

test.each([
  [5, 'R 0.05'],
  [99, 'R 0.99'],
  [100, 'R 1.00'],
  [123_456_789, 'R 1,234,567.89'],
  [100_000_000_000, 'R 1,000,000,000.00'],
])('the page shows %i cents as %s', (amount, text) => {
  expect(renderBrowserDataPage({ ...PAGE, amount })).toContain(`You pay <strong>${text}</strong> to`);
});

test('the page shows the name of the merchant as text', () => {
  const html = renderBrowserDataPage({ ...PAGE, merchantName: `<script>"A" & 'B'` });
  expect(html).toContain('<strong>&#60;script&#62;&#34;A&#34; &#38; &#39;B&#39;</strong>');
});

test('the page announces a problem, if there is one', () => {
  expect(renderBrowserDataPage(PAGE)).not.toContain('role="alert"');
  expect(renderBrowserDataPage({ ...PAGE, problem: 'Wait.' })).toContain('<p role="alert">Wait.</p>');
});
