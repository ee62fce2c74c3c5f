import { qrSvg } from '@svc/kernel';
import type {
  ClosedPage,
  OrderShown,
  PageAssets,
  PaidPage,
  PayablePage,
  PayPageModel,
  VerificationPage,
} from './pay-page-model.js';
import { PAY_PAGE_CONTENT_SECURITY_POLICY, renderPayPage } from './render-pay-page.js';

const assets: PageAssets = {
  script: { file: 'pay-0123456789abcdef.js', integrity: 'sha384-c2NyaXB0' },
  style: { file: 'pay-fedcba9876543210.css', integrity: 'sha384-c3R5bGU=' },
};
const order: OrderShown = {
  sessionId: '0198f2c4-7a3b-7c11-9d2e-5b6a7c8d9e0f',
  callsPath: '/pay/0198f2c4-7a3b-7c11-9d2e-5b6a7c8d9e0f',
  sessionVersion: 3,
  merchantName: 'Karoo Coffee',
  siteName: 'Online store',
  merchantOrderId: 'order-1001',
  amountCents: 12345,
  currencyISOCode: 'ZAR',
  customFields: [{ key: 'Beans', value: 'Ethiopia Guji' }],
  backToStoreUrl: 'https://shop.example/cart?sessionId=1&merchantOrderId=order-1001',
  locale: 'en-ZA',
};
const open: PayablePage = {
  ...order,
  state: 'open',
  try: 1,
  triesLeft: 5,
  expiresAt: '2026-11-20T18:33:36.123Z',
  encryptionKey: { kty: 'EC', crv: 'P-256', x: 'eHg', y: 'eXk', kid: 'card-1' },
};
const declined: PayablePage = {
  ...open,
  state: 'declined',
  try: 2,
  triesLeft: 4,
  decline: { errorReference: '11', message: 'Insufficient funds' },
};
const succeeded: PaidPage = {
  ...order,
  state: 'succeeded',
  paymentReference: '1VQ5K3P0ABCDEFGHJK',
  paidAt: '2026-11-20T18:03:36.123Z',
  returnUrl: 'https://shop.example/thanks?paymentStatus=Success',
};
const verification: VerificationPage = {
  ...order,
  state: 'verification',
  verificationUrl: 'https://bank.example/challenges/1?a=b&c=d',
  until: '2026-11-20T18:18:36.123Z',
  anotherCardUrl: '?sessionId=1&card=another',
};
const closedStates: ClosedPage['state'][] = ['refused', 'expired', 'cancelled'];
const everyState: PayPageModel[] = [
  open,
  declined,
  { ...order, state: 'processing', isLate: false },
  { ...order, state: 'processing', isLate: true },
  verification,
  succeeded,
  { ...succeeded, state: 'already-paid' },
  ...closedStates.map((state) => ({ ...order, state })),
  { state: 'till', merchantName: 'Karoo Coffee', amountCents: 8950, currencyISOCode: 'ZAR', locale: 'en-ZA' },
  { state: 'not-found' },
];

const ofSessions = everyState.filter(({ state }) => state !== 'not-found' && state !== 'till');

const render = (model: PayPageModel) => renderPayPage(model, assets);
/** What a person reads: the document without its tags. */
const textOf = (html: string) =>
  html
    .replace(/<head>.*<\/head>/s, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#39;|&#x27;/g, "'")
    .replace(/\s+/g, ' ');

describe('every page', () => {
  it.each(everyState.map((model) => [model.state, model] as const))('%s keeps to the policy', (_state, model) => {
    const html = render(model);
    expect(html.startsWith('<!doctype html><html lang="en">')).toBe(true);
    expect(html.match(/<script\b/g)).toHaveLength(1);
    expect(html).toContain(
      '<script src="/pay/assets/pay-0123456789abcdef.js" integrity="sha384-c2NyaXB0" defer></script>',
    );
    expect(html).toContain('href="/pay/assets/pay-fedcba9876543210.css" integrity="sha384-c3R5bGU="');
    expect(html).not.toMatch(/<style|\sstyle=|\son[a-z]+=/);
    expect(html.match(/<h1\b/g)?.length).toBeGreaterThanOrEqual(1);
  });

  it.each(ofSessions.map((model) => [model.state, model] as const))(
    '%s shows the order and the way back to the store, except while a payment is under way',
    (state, model) => {
      const html = render(model);
      const text = textOf(html);
      for (const shown of ['Karoo Coffee', 'Online store', 'order-1001', 'R 123.45', 'Beans', 'Ethiopia Guji']) {
        expect(text).toContain(shown);
      }
      const links = [...html.matchAll(/<a [^>]*href="([^"]*)"[^>]*>(.*?)<\/a>/g)];
      const back = links.filter(([, , label]) => label?.includes('Back to store'));
      const address = 'https://shop.example/cart?sessionId=1&amp;merchantOrderId=order-1001';
      expect(back.map(([, href]) => href)).toEqual(state === 'processing' ? [] : [address]);
    },
  );

  it('allows no inline script or style, no other origin, no frame and no native form post', () => {
    expect(PAY_PAGE_CONTENT_SECURITY_POLICY).not.toMatch(/unsafe|https?:|\*/);
    for (const rule of ["default-src 'none'", "form-action 'none'", "frame-ancestors 'none'", "base-uri 'none'"]) {
      expect(PAY_PAGE_CONTENT_SECURITY_POLICY).toContain(rule);
    }
  });
});

describe('the form', () => {
  it('has the four labelled fields, none of which a native post could send', () => {
    const html = render(open);
    const labels = [...html.matchAll(/<label for="([^"]+)">([^<]+)<\/label>/g)].map(([, id, text]) => [id, text]);
    expect(labels).toEqual([
      ['card-number', 'Card number'],
      ['card-expiry', 'Expiry date'],
      ['card-cvv', 'CVV'],
      ['card-name', 'Name on card'],
    ]);
    const inputs = [...html.matchAll(/<input [^>]*>/g)].map(([tag]) => tag);
    expect(inputs.map((tag) => /autocomplete="([^"]+)"/.exec(tag)?.[1])).toEqual([
      'cc-number',
      'cc-exp',
      'cc-csc',
      'cc-name',
    ]);
    expect(inputs.filter((tag) => tag.includes('inputmode="numeric"'))).toHaveLength(3);
    for (const tag of inputs) {
      expect(tag).not.toMatch(/\s(name|value)=/);
      const describedBy = /aria-describedby="([^"]+)"/.exec(tag)?.[1]?.split(' ') ?? [];
      expect(describedBy.length).toBeGreaterThan(0);
      for (const id of describedBy) expect(html).toContain(`id="${id}"`);
    }
    expect(html).not.toMatch(/<form[^>]*\s(action|method)=/);
    expect(html).toContain('<fieldset id="pay-fields" disabled>');
  });

  it('has a button with the amount, and says what to do without scripts', () => {
    const html = render(open);
    expect(textOf(/<button.*<\/button>/s.exec(html)?.[0] ?? '').trim()).toBe('Pay R 123.45');
    expect(/<noscript>(.*?)<\/noscript>/s.exec(html)?.[1]).toContain('needs JavaScript');
  });

  it('gives the script what it needs, and of the key only the public members', () => {
    const leaked = { ...open.encryptionKey, d: 'the-private-part', use: 'enc' };
    const html = render({ ...open, encryptionKey: leaked });
    const main = /<main ([^>]*)>/.exec(html)?.[1] ?? '';
    expect(main).toContain('data-state="open"');
    expect(main).toContain('data-session-id="0198f2c4-7a3b-7c11-9d2e-5b6a7c8d9e0f"');
    expect(main).toContain('data-calls-path="/pay/0198f2c4-7a3b-7c11-9d2e-5b6a7c8d9e0f"');
    expect(main).toContain('data-session-version="3"');
    expect(main).toContain('data-try="1"');
    expect(main).toContain('data-expires-at="2026-11-20T18:33:36.123Z"');
    const key = /data-encryption-key="([^"]*)"/.exec(main)?.[1]?.replaceAll('&quot;', '"') ?? '';
    expect(JSON.parse(key)).toEqual(open.encryptionKey);
    expect(html).not.toContain('the-private-part');
  });

  it('says after a decline why, what to do and how many tries are left', () => {
    const text = textOf(render(declined));
    expect(text).toContain('There is not enough money on this card');
    expect(text).toContain('Nothing was charged.');
    expect(text).toContain('4 of 5 tries left.');
    expect(textOf(render({ ...declined, triesLeft: 1 }))).toContain('This is the last try.');
    expect(render(declined)).toContain('role="alert"');
    expect(render(open)).not.toContain('id="decline"');
  });

  it("falls back to the message of a reason it does not know, also one named like an object's own", () => {
    for (const errorReference of ['99', 'constructor', '__proto__']) {
      const text = textOf(render({ ...declined, decline: { errorReference, message: 'Ask your bank.' } }));
      expect(text).toContain('The payment did not go through');
      expect(text).toContain('Ask your bank.');
    }
  });
});

describe('another device', () => {
  const code = 'https://pay.example/c/01234567890123456789';
  const scanned = ({ backToStoreUrl: _, ...model }: OrderShown): OrderShown => ({ ...model, callsPath: '/c/0123' });

  it('is shown a code beside the form, drawn here, dark on white, with words for those who see none', () => {
    for (const model of [open, declined]) {
      const html = render({ ...model, code });
      expect(html).toContain(qrSvg(code, 'QR code that opens this payment on a phone').trim());
      expect(html).toContain('<path fill="#fff" d="M0 0h');
      expect(textOf(html)).toContain('Scan the code with the camera of your phone');
      // Folded by the style sheet alone, on a phone.
      expect(html).toContain('<details><summary>Pay with another device</summary></details>');
      expect(html).not.toMatch(/\sstyle=|<img/);
    }
    expect(render(open)).not.toContain('id="code-view"');
  });

  it('goes nowhere from there: what is paid is said, and the shop’s page goes on by itself', () => {
    const { returnUrl: _, ...receipt } = succeeded;
    for (const state of ['succeeded', 'already-paid'] as const) {
      const { backToStoreUrl: __, ...there } = receipt;
      const html = render({ ...there, state });
      expect(textOf(html)).toContain('The page of the shop goes on by itself.');
      expect(html).not.toContain('<a ');
    }
    for (const state of closedStates) expect(render({ ...scanned(order), state })).not.toContain('<a ');
    expect(render({ ...scanned(open), state: 'processing', isLate: false })).not.toContain('<a ');
  });

  it('is told of a code that is none what else could be done with it', () => {
    const text = textOf(render({ state: 'not-found', isScanned: true }));
    expect(text).toContain('This code cannot be paid here');
    expect(text).toContain('scan it with a payment app');
  });

  it('is told of the code of a till that it is for another reader', () => {
    const till = { state: 'till', amountCents: null, currencyISOCode: null, locale: 'en-ZA' } as const;
    const html = render({ ...till, merchantName: '<b>Karoo</b>' });
    expect(textOf(html)).toContain('Nothing can be paid on this page.');
    expect(html).toContain('&lt;b>Karoo');
    expect(html).not.toMatch(/<form|<a |class="amount"/);
  });
});

describe('the other states', () => {
  it('processing asks for patience, and reloads by itself without scripts', () => {
    const html = render({ ...order, state: 'processing', isLate: false });
    expect(textOf(html)).toContain('Confirming with your bank…');
    expect(/<p class="hint" id="processing-late" hidden/.test(html)).toBe(true);
    const late = render({ ...order, state: 'processing', isLate: true });
    expect(textOf(late)).toContain('Still checking with your bank. Do not pay again.');
    expect(/<p class="hint" id="processing-late" hidden/.test(late)).toBe(false);
    expect(html).toMatch(/<noscript><meta http-equiv="refresh" content="5"\s*\/?><\/noscript>/);
    expect(html).not.toContain('<form');
  });

  it('verification leads to the bank, says until when, and offers another card where there is a try left', () => {
    const html = render(verification);
    expect(html).toContain('href="https://bank.example/challenges/1?a=b&amp;c=d"');
    expect(textOf(html)).toContain('Nothing is charged before you have confirmed.');
    expect(textOf(html)).toContain('20 November 2026 at 18:18 UTC');
    expect(html).toContain('href="?sessionId=1&amp;card=another"');
    expect(html).toMatch(/<noscript><meta http-equiv="refresh"/);
    const { anotherCardUrl: _, ...alone } = verification;
    expect(render(alone)).not.toContain('card=another');
    expect(render({ ...verification, verificationUrl: 'javascript:alert(1)' })).not.toContain('javascript');
  });

  it('every state tells of a charge that was given back', () => {
    for (const model of ofSessions)
      expect(textOf(render({ ...model, hasGivenBack: true } as PayPageModel))).toContain('was given back to your card');
    expect(render(open)).not.toContain('given back');
  });

  it("has a mark in the merchant's colour, whatever the name is made of", () => {
    const markOf = (merchantName: string) =>
      /<span class="mark tone-(\d)"[^>]*>([^<]*)<\/span>/.exec(render({ ...open, merchantName }));
    expect(markOf('karoo coffee')?.slice(1)).toEqual(markOf('karoo coffee')?.slice(1));
    expect(markOf('karoo coffee')?.[2]).toBe('K');
    expect(markOf('"><b>7</b>')?.[2]).toBe('B');
    expect([markOf('😀')?.[2], markOf('')?.[2], markOf('\u202E…')?.[2]]).toEqual(['•', '•', '•']);
    const tones = new Set(Array.from({ length: 200 }, (_, index) => markOf(`Shop ${index}`)?.[1]));
    expect(tones.size).toBe(8);
  });

  it('succeeded is a receipt with a link that works without scripts', () => {
    const html = render(succeeded);
    for (const shown of ['Payment successful', '1VQ5K3P0ABCDEFGHJK', '20 November 2026 at 18:03 UTC', 'R 123.45']) {
      expect(textOf(html)).toContain(shown);
    }
    expect(html).toContain(
      '<a class="primary" id="return-link" href="https://shop.example/thanks?paymentStatus=Success">',
    );
    expect(textOf(html)).toContain('Return to Karoo Coffee');
    expect(html).toContain('id="returning"');
  });

  it('already-paid has the receipt and does not lead away', () => {
    const html = render({ ...succeeded, state: 'already-paid' });
    expect(textOf(html)).toContain('This order is already paid');
    expect(html).not.toContain('id="returning"');
  });

  it.each([
    ['refused', 'This payment cannot be tried again'],
    ['expired', 'This payment page has expired'],
    ['cancelled', 'This payment was cancelled'],
  ] as const)('%s says so, and that nothing was charged', (state, heading) => {
    const html = render({ ...order, state });
    expect(textOf(html)).toContain(heading);
    expect(textOf(html)).toContain('Nothing was charged.');
    expect(html).not.toContain('<form');
    expect(html).not.toContain('data-encryption-key');
  });

  it('not-found tells nothing about any session', () => {
    const html = render({ state: 'not-found' });
    expect(textOf(html)).toContain('This payment page does not exist');
    expect(html).not.toContain('data-session-id');
    expect(html).not.toContain('<a ');
  });
});

describe('hostile values', () => {
  const hostile = [
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

  it.each(hostile)('%j stays text wherever it is put', (value) => {
    const poisoned = {
      sessionId: value,
      callsPath: value,
      sessionVersion: value,
      merchantName: value,
      siteName: value,
      merchantOrderId: value,
      customFields: Array.from({ length: 20 }, () => ({ key: value, value })),
      locale: value,
    };
    const decline = { errorReference: value, message: value };
    const pages = [
      { ...declined, ...poisoned, decline, expiresAt: value, encryptionKey: { ...open.encryptionKey, kid: value } },
      { ...succeeded, ...poisoned, paymentReference: value },
      { ...order, ...poisoned, state: 'refused' as const },
      { ...verification, ...poisoned, verificationUrl: value },
    ];
    const cleanPages = [declined, succeeded, { ...order, state: 'refused' as const }, verification];
    for (const [index, clean] of cleanPages.entries()) {
      const html = render(pages[index] as PayPageModel);
      // The same elements as with harmless values: nothing was opened or closed by what strangers wrote. Only the
      // fold may differ, which depends on lengths.
      const harmless = { ...clean, customFields: Array.from({ length: 20 }, () => ({ key: 'k', value: 'v' })) };
      const isFold = (tag: string) => tag === 'details' || tag === 'summary' || tag === 'dl';
      const elements = (document: string) =>
        tagsOf(document)
          .filter((tag) => !isFold(tag))
          .sort();
      expect(elements(html)).toEqual(elements(render(harmless)));
      expect(html.match(/<script\b/g)).toHaveLength(1);
      expect(html).not.toMatch(/<(img|style)\b/);
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
  ])('the address %j becomes a link to nowhere', (address) => {
    const paidLinks = render({ ...succeeded, backToStoreUrl: address, returnUrl: address }).match(/<a [^>]*>/g) ?? [];
    const closedLinks = render({ ...order, state: 'expired', backToStoreUrl: address }).match(/<a [^>]*>/g) ?? [];
    expect(paidLinks).toHaveLength(2);
    expect(closedLinks).toHaveLength(1);
    for (const link of [...paidLinks, ...closedLinks]) expect(link).not.toContain('href');
  });

  it('folds away what would push the form out of sight, and leaves nothing out', () => {
    const customFields = Array.from({ length: 20 }, (_, index) => ({ key: `Key ${index}`, value: `Value ${index}.` }));
    const html = render({ ...open, customFields });
    const [before, folded] = html.split('<details>');
    expect(before).toContain('Value 3.');
    expect(before).not.toContain('Value 4.');
    for (const { value } of customFields.slice(4)) expect(folded).toContain(value);
  });
});

function tagsOf(html: string): string[] {
  return [...html.matchAll(/<([a-z][a-z0-9]*)\b/gi)].map(([, tag]) => tag ?? '');
}
