import {
  allPages,
  declinedPage,
  openPage,
  order,
  paidPage,
  readVisibleText,
  removeLanguageLinks,
  renderHtml,
  renderSecurityPolicy,
  reversedCharges,
  verificationPage,
} from '../../test/pages.js';
import { getLanguage } from '../languages/languages.js';
import type { PayPageModel } from './pay-page-model.js';

/** States whose page never changes, and therefore has no script. */
const STATES_WITHOUT_SCRIPT = ['refused', 'paused', 'expired', 'cancelled', 'not-found', 'unavailable'];
const sessionPages = allPages.filter(({ state }) => !['not-found', 'till', 'unavailable'].includes(state));

describe('every page', () => {
  it.each(allPages.map((model) => [model.state, model] as const))(
    'has in state %s only the inline script and style that the content security policy allows',
    (_state, model) => {
      const html = renderHtml(model);
      expect(html.startsWith('<!doctype html><html lang="en" dir="ltr">')).toBe(true);
      const scripts = STATES_WITHOUT_SCRIPT.includes(model.state) ? [] : ['<script>pay()</script>'];
      expect(html.match(/<script.*?<\/script>/gs) ?? []).toEqual(scripts);
      // The script is at the end, so that the browser shows the content first.
      expect(html.endsWith(`</footer>${scripts.join('')}</body></html>`)).toBe(true);
      expect(html.match(/<style.*?<\/style>/gs)).toEqual(['<style>h1{color:red}</style>']);
      expect(html).not.toMatch(/<link rel="stylesheet|\sstyle=|\son[a-z]+=/);
      expect(html.match(/<h1\b/g)?.length).toBeGreaterThanOrEqual(1);
    },
  );

  it.each(sessionPages.map((model) => [model.state, model] as const))(
    'shows in state %s the order, and a link to the store unless a payment is in progress',
    (state, model) => {
      const html = renderHtml(model);
      const text = readVisibleText(html);
      for (const shown of ['Karoo Coffee', 'Online store', 'order-1001', 'R 123.45', 'Beans', 'Ethiopia Guji']) {
        expect(text).toContain(shown);
      }
      const links = [...html.matchAll(/<a [^>]*href="([^"]*)"[^>]*>(.*?)<\/a>/g)];
      const storeLinks = links.filter(([, , label]) => label?.includes('Back to store'));
      const storeUrl = 'https://shop.example/cart?sessionId=1&amp;merchantOrderId=order-1001';
      expect(storeLinks.map(([, href]) => href)).toEqual(
        ['processing', 'verification'].includes(state) ? [] : [storeUrl],
      );
    },
  );

  it('has a script if it shows a reversed charge, because the script shows the brand of the card', () => {
    expect(renderHtml({ ...order, state: 'cancelled', reversedCharges })).toContain('<script>pay()</script>');
    expect(renderHtml({ ...order, state: 'cancelled', reversedCharges: [] })).not.toContain('<script');
  });

  it('has a content security policy that allows only its own script and style, no other origin, no framing and no native form post', () => {
    const policy = renderSecurityPolicy(openPage);
    expect(policy).not.toMatch(/unsafe|https?:|\*|nonce|(script|style)-src [^;]*'self'/);
    expect(policy).toContain("script-src 'sha384-c2NyaXB0'; style-src 'sha384-c3R5bGU=';");
    expect(renderSecurityPolicy({ state: 'not-found' })).toContain("script-src 'none'; style-src");
    for (const rule of ["default-src 'none'", "form-action 'none'", "frame-ancestors 'none'", "base-uri 'none'"]) {
      expect(policy).toContain(rule);
    }
  });
});

describe('a page in another language', () => {
  const zulu = { language: getLanguage('zu'), isLanguageChosen: true };

  it('has the script of that language, and the language in its links and in the calls of the script', () => {
    const html = renderHtml(openPage, zulu);
    expect(html).toContain('<html lang="zu" dir="ltr">');
    expect(html).toContain('<title>Khokha R 123.45 ku-Karoo Coffee</title>');
    expect(html).toContain('<script>khokha()</script>');
    expect(renderSecurityPolicy(openPage, zulu)).toContain("script-src 'sha384-enU=';");
    expect(html).toContain('data-calls-query="?lang=zu"');
    expect(renderHtml(verificationPage, zulu)).toContain('href="?sessionId=1&amp;card=another&amp;lang=zu"');
    // Calls of the script need no parameter if the browser's language is used.
    expect(renderHtml(openPage, { ...zulu, isLanguageChosen: false })).not.toContain('data-calls-query');
    expect(renderHtml(verificationPage, { ...zulu, isLanguageChosen: false })).toContain(
      'href="?sessionId=1&amp;card=another"',
    );
  });

  it.each(allPages.map((model) => [model.state, model] as const))(
    'has in state %s links to the same page in the other languages',
    (_state, model) => {
      const html = renderHtml(model, { ...zulu, query: 'sessionId=7&card=another' });
      const links = [...html.matchAll(/<a href="([^"]*)" lang="(..)" hreflang="(..)" dir="ltr">([^<]*)<\/a>/g)];
      expect(links.map(([, ...link]) => link)).toEqual([
        ['?sessionId=7&amp;card=another&amp;lang=en', 'en', 'en', 'English'],
        ['?sessionId=7&amp;card=another&amp;lang=af', 'af', 'af', 'Afrikaans'],
        ['?sessionId=7&amp;card=another&amp;lang=xh', 'xh', 'xh', 'isiXhosa'],
        ['?sessionId=7&amp;card=another&amp;lang=st', 'st', 'st', 'Sesotho'],
      ]);
      expect(html).toMatch(/<summary aria-label="Ulimi: isiZulu"><svg [^]*?<\/svg>isiZulu<\/summary>/);
      expect(renderHtml(model, { ...zulu, query: '' })).toContain('href="?lang=en"');
    },
  );
});

describe('untrusted input', () => {
  const hostileValues = [
    '"><script>alert(1)</script>',
    "'><img src=x onerror=alert(1)>",
    '</main><style>*{display:none}</style>',
    '&quot;&lt;script&gt;',
    '\u202Egnihtemos\u2066',
    '😀👩‍👩‍👧‍👦🏳️‍🌈',
    'x'.repeat(512),
    '\u0000\u0007\n\r\t',
    '${7*7}{{7*7}}',
  ];

  it.each(hostileValues)('remains text in every field: %j', (value) => {
    const hostileFields = {
      sessionId: value,
      callsPath: value,
      sessionVersion: value,
      merchantName: value,
      siteName: value,
      merchantOrderId: value,
      customFields: Array.from({ length: 20 }, () => ({ key: value, value })),
    };
    const decline = { errorReference: value, message: value };
    const pages = [
      {
        ...declinedPage,
        ...hostileFields,
        decline,
        expiresAt: value,
        encryptionKey: { ...openPage.encryptionKey, kid: value },
      },
      { ...paidPage, ...hostileFields, paymentReference: value },
      { ...order, ...hostileFields, state: 'refused' as const },
      { ...verificationPage, ...hostileFields, verificationUrl: value },
    ];
    const cleanPages = [declinedPage, paidPage, { ...order, state: 'refused' as const }, verificationPage];
    for (const [index, clean] of cleanPages.entries()) {
      const html = renderHtml(pages[index] as PayPageModel);
      // The page has the same elements as a page with harmless values, so untrusted text creates no element. Only the
      // number of folded list elements may differ, because it depends on the lengths of the texts.
      const harmless = { ...clean, customFields: Array.from({ length: 20 }, () => ({ key: 'k', value: 'v' })) };
      const isInFoldedList = (tag: string) => tag === 'details' || tag === 'summary' || tag === 'dl';
      const elements = (document: string) =>
        tagNames(document)
          .filter((tag) => !isInFoldedList(tag))
          .sort();
      expect(elements(html)).toEqual(elements(renderHtml(harmless)));
      expect(html.match(/<script\b/g) ?? []).toHaveLength(STATES_WITHOUT_SCRIPT.includes(clean.state) ? 0 : 1);
      expect(html.replace(/<style>h1\{color:red\}<\/style>/, '')).not.toMatch(/<(img|style)\b/);
    }
  });

  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    ' javascript:alert(1)',
    'vbscript:x',
    '//evil.example',
    'nonsense',
    '',
  ])('becomes a link without href if its URL is %j', (address) => {
    const paidLinks =
      removeLanguageLinks(renderHtml({ ...paidPage, backToStoreUrl: address, returnUrl: address })).match(
        /<a [^>]*>/g,
      ) ?? [];
    const closedLinks =
      removeLanguageLinks(renderHtml({ ...order, state: 'expired', backToStoreUrl: address })).match(/<a [^>]*>/g) ??
      [];
    expect(paidLinks).toHaveLength(2);
    expect(closedLinks).toHaveLength(1);
    for (const link of [...paidLinks, ...closedLinks]) expect(link).not.toContain('href');
  });

  it('is folded above the form if it is long, and is not truncated', () => {
    const customFields = Array.from({ length: 20 }, (_, index) => ({ key: `Key ${index}`, value: `Value ${index}.` }));
    const html = renderHtml({ ...openPage, customFields });
    const [visible, folded] = html.split('<details>');
    expect(visible).toContain('Value 3.');
    expect(visible).not.toContain('Value 4.');
    for (const { value } of customFields.slice(4)) expect(folded).toContain(value);
  });
});

function tagNames(html: string): string[] {
  return [...html.matchAll(/<([a-z][a-z0-9]*)\b/gi)].map(([, tag]) => tag ?? '');
}
