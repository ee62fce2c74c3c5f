import {
  allPages,
  look,
  openPage,
  order,
  paidPage,
  receiptMailPages,
  renderHtml,
  renderSecurityPolicy,
} from '../../../test/pages.js';
import { buildMailLink } from './merchant-look.js';

describe('a page with the look of a merchant', () => {
  it('shows the logo instead of the letter and the name, with its size', () => {
    const html = renderHtml({ ...openPage, look });
    expect(html).toContain(
      '<img class="logo" src="/looks/0123456789abcdef0123456789abcdef.png" alt="Karoo Coffee" width="168" height="56"/>',
    );
    expect(html).not.toContain('class="mark tone');
    expect(html).not.toContain('class="merchant-name"');
  });

  it('shows the name beside a logo that is too narrow to have it in letters', () => {
    const html = renderHtml({ ...openPage, look: { ...look, logo: { ...look.logo!, width: 112 } } });
    expect(html).toMatch(/<img class="logo" src="[^"]+" alt width="112" height="56"\/>/);
    expect(html).toContain('<bdi class="merchant-name">Karoo Coffee</bdi>');
    expect(html).not.toContain('class="mark tone');
  });

  it('shows the letter and the name without a logo', () => {
    const { logo: _, ...withoutLogo } = look;
    const html = renderHtml({ ...openPage, look: withoutLogo });
    expect(html).toContain('class="mark tone');
    expect(html).toContain('<bdi class="merchant-name">Karoo Coffee</bdi>');
  });

  it.each(allPages.filter((model) => 'merchantName' in model).map((model) => [model.state, model] as const))(
    'has the style and the contact in state %s',
    (_state, model) => {
      const html = renderHtml({ ...model, look });
      expect(html).toContain(`<style>${look.style!.content}</style>`);
      expect(html).toMatch(/<footer class="with-contact">.*<p class="contact">/s);
    },
  );

  it.each([
    ['only terms', { termsUrl: 'https://karoo.example/terms' }, ['Terms and conditions'], ['Questions?']],
    ['only a telephone number', { supportPhone: '021 555 0100' }, ['Questions?', 'tel:0215550100'], ['Terms']],
    ['neither', { displayName: 'Karoo' }, [], ['class="contact"']],
  ])('with %s', (_name, partialLook, shown, hidden) => {
    const html = renderHtml({ ...openPage, look: partialLook });
    for (const text of shown) expect(html).toContain(text);
    for (const text of hidden) expect(html).not.toContain(text);
  });

  it('allows only this style in addition', () => {
    const plain = renderSecurityPolicy(openPage);
    const policy = renderSecurityPolicy({ ...openPage, look });
    expect(policy).toBe(plain.replace("style-src 'sha384-c3R5bGU='", "style-src 'sha384-c3R5bGU=' 'sha384-bG9vaw=='"));
    expect(policy).not.toBe(plain);
  });
});

test('a page without a look contains nothing of it', () => {
  const html = renderHtml(openPage);
  for (const text of ['class="logo"', 'class="contact"', 'with-contact']) expect(html).not.toContain(text);
  expect(html.match(/<style>/g)).toHaveLength(1);
});

describe('the form of the receipt', () => {
  it('is on the receipt only, and only its page may send a form', () => {
    const [page] = receiptMailPages;
    expect(renderHtml(page!)).toContain(`<form method="post" action="${order.callsPath}/receipts">`);
    expect(renderSecurityPolicy(page!)).toContain("form-action 'self'");
    expect(renderHtml(paidPage)).not.toContain('<form');
    expect(renderSecurityPolicy(paidPage)).toContain("form-action 'none'");
  });

  it('is folded until it was sent, and then shows the result', () => {
    const opened = receiptMailPages.map(
      (page) => /<details class="receipt-mail" id="receipt-mail"( open)?>/.exec(renderHtml(page))?.[1],
    );
    expect(opened).toEqual([undefined, ' open', ' open', ' open', ' open']);
    const kinds = receiptMailPages.map((page) => /class="([^"]*)" id="receipt-result"/.exec(renderHtml(page))?.[1]);
    expect(kinds).toEqual([undefined, 'notice news', 'notice', 'notice', 'notice']);
  });
});

test('an address cannot add fields to a mail', () => {
  expect(buildMailLink('a?bcc=b&c=d@karoo.example')).toBe('mailto:a%3Fbcc%3Db%26c%3Dd@karoo.example');
});
