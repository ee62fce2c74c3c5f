/** The look of the payment page: its form, its preview, files of every kind, and the roles that may change it. */
import {
  type LookPreview,
  MAX_LOGO_BYTES,
  type PreviewLook,
  PreviewLookV1,
  type SetLook,
  SetLookV1,
} from '@svc/contracts';
import type { ReplyEnvelope } from '@svc/messaging';
import { createMerchant, startConsole, type TestConsole, type TestMerchant } from '../../test/console.js';

let app: TestConsole;
let merchant: TestMerchant;
let previews: PreviewLook[] = [];
let changes: SetLook[] = [];
let refusal: ReplyEnvelope | undefined;
const STORED_LOGO = Buffer.from('stored').toString('base64');
const DRAFT_LOGO = Buffer.from('encoded again').toString('base64');
const COLOURS = { buttonText: '#000000', linksOnLight: '#7a6200', linksOnDark: '#ffcc00' };
const PREVIEW: LookPreview = {
  settings: { displayName: 'Karoo & Co', accentColour: '#ffcc00' },
  version: 7,
  logo: STORED_LOGO,
  colours: COLOURS,
  page: { html: '<!doctype html><p class="x">The page & more</p>', styles: ['sha384-one', 'sha384-two'] },
};
beforeAll(async () => {
  app = await startConsole();
  await app.respondTo(PreviewLookV1, (request) => {
    previews.push(request);
    if (request.draft !== undefined && refusal !== undefined) return refusal;
    const draft = request.draft && { settings: request.draft.settings };
    const logo = request.draft?.logo === undefined ? {} : { logo: DRAFT_LOGO };
    return { ok: true, reply: { ...PREVIEW, ...draft, ...logo } };
  });
  await app.respondTo(SetLookV1, (request) => {
    changes.push(request);
    return refusal ?? { ok: true, reply: { version: 8 } };
  });
});
afterAll(() => app.stop());
beforeEach(async () => {
  merchant = await createMerchant(app);
  [previews, changes, refusal] = [[], [], undefined];
});

const path = (rest = ''): string => `/${merchant.merchantId}/test/look${rest}`;
const fileOf = (bytes: number | Buffer, type = 'image/png'): File =>
  new File([new Uint8Array(typeof bytes === 'number' ? Buffer.alloc(bytes, 1) : bytes)], 'logo', { type });
const FORM = {
  version: '7',
  displayName: ' Karoo Coffee ',
  hasColour: '1',
  accentColour: '#ffcc00',
  supportEmail: '',
  supportPhone: '021 555 0100',
  supportUrl: '',
  termsUrl: 'https://karoo.example/terms',
};
const SETTINGS = {
  displayName: 'Karoo Coffee',
  accentColour: '#ffcc00',
  supportPhone: '021 555 0100',
  termsUrl: 'https://karoo.example/terms',
};

test('an owner sees the stored look, the page with it in a frame without permissions, and what becomes of the colour', async () => {
  const { status, html, text, headers } = await app.signIn([merchant.grant('owner')]).get(path());
  expect(status).toBe(200);
  expect(previews).toEqual([{ merchantId: merchant.merchantId, merchantName: 'Karoo Books', language: 'en' }]);
  expect(html).toMatch(
    / sandbox(="")? srcdoc="&lt;!doctype html>&lt;p class=&quot;x&quot;>The page &amp; more&lt;\/p>"/,
  );
  expect(html).toContain('name="version" value="7"');
  expect(html).toContain('value="Karoo &amp; Co"');
  expect(html).toContain(`src="data:image/png;base64,${STORED_LOGO}"`);
  expect(text).toContain('The text on the button is black.');
  expect(text).toContain('Your colour is darkened to #7a6200 on links, so that it can be read.');
  const policy = String(headers['content-security-policy']);
  expect(policy).toContain("style-src 'self' 'sha384-one' 'sha384-two'; img-src 'self' data:");
  expect(policy).toContain("script-src 'self';");
  expect(policy).toContain("default-src 'none'");
});

test('finance and developers see it and cannot change it, neither can an owner of one site', async () => {
  for (const grant of [
    merchant.grant('finance'),
    merchant.grant('developer'),
    merchant.grant('owner', merchant.sites[0]),
  ]) {
    const browser = app.signIn([grant]);
    const page = await browser.get(path());
    expect([page.status, page.text.includes('Only owners of the whole merchant')]).toEqual([200, true]);
    expect(page.html).not.toContain('>Save<');
    for (const rest of ['', '/preview']) expect((await browser.upload(path(rest), FORM)).status).toBe(403);
  }
  expect(changes).toEqual([]);
  expect((await app.signIn([merchant.grant('support')]).get(path())).status).toBe(403);
});

test('a preview shows what was typed, keeps the new logo in the form, and stores nothing', async () => {
  const owner = app.signIn([merchant.grant('owner')]);
  const page = await owner.upload(path('/preview'), { ...FORM, logo: fileOf(Buffer.from('new')) });
  expect(page.status).toBe(200);
  const logo = { type: 'image/png', base64: Buffer.from('new').toString('base64') };
  expect(previews.at(-1)?.draft).toEqual({ settings: SETTINGS, logo, removesLogo: false });
  expect(page.text).toContain('This is a preview. Nothing is saved yet.');
  expect(page.html).toContain(`name="draftLogo" value="${DRAFT_LOGO}"`);
  expect(page.html).toContain('value="Karoo Coffee"');
  expect(changes).toEqual([]);
});

test('the look is saved with the logo of the preview, by the person, for the version that the person saw', async () => {
  const owner = app.signIn([merchant.grant('owner')]);
  const { status, headers } = await owner.upload(path(), { ...FORM, draftLogo: DRAFT_LOGO, logo: fileOf(0) });
  expect([status, headers['location']]).toEqual([303, path('?done=saved')]);
  expect(changes).toEqual([
    {
      merchantId: merchant.merchantId,
      version: 7,
      personId: owner.person.personId,
      requestId: headers['x-request-id'],
      settings: SETTINGS,
      logo: { type: 'image/png', base64: DRAFT_LOGO },
      removesLogo: false,
    },
  ]);
  expect((await owner.get(path('?done=saved'))).text).toContain('Saved. Payers see it within a few seconds.');
});

test('without a colour and with a removed logo the look has neither', async () => {
  const { hasColour: _, ...form } = FORM;
  await app.signIn([merchant.grant('owner')]).upload(path(), { ...form, removeLogo: '1', draftLogo: DRAFT_LOGO });
  const { accentColour: __, ...settings } = SETTINGS;
  expect(changes).toMatchObject([{ settings, removesLogo: true }]);
  expect(changes[0]).not.toHaveProperty('logo');
  expect(changes[0]?.settings).not.toHaveProperty('accentColour');
});

describe('a refused look', () => {
  const refuse = (code: 'request.invalid' | 'look.logo-unusable' | 'resource.conflict', field?: string): void => {
    const fields = field === undefined ? [] : [{ field, message: `${field} is wrong` }];
    refusal = { ok: false, code, message: 'Refused', fields };
  };
  it.each([
    ['request.invalid', 'supportPhone', 422, 'Enter a telephone number such as +27 21 555 0100.'],
    ['look.logo-unusable', undefined, 422, 'The logo cannot be used.'],
    ['resource.conflict', undefined, 409, 'Another person has changed the look meanwhile.'],
  ] as const)('%s is a sentence beside the form, which keeps what was typed', async (code, field, status, text) => {
    refuse(code, field);
    const page = await app.signIn([merchant.grant('owner')]).upload(path(), FORM);
    expect([page.status, page.text.includes(text)]).toEqual([status, true]);
    expect(page.html).toContain('value="Karoo Coffee"');
    expect(page.html).toContain('name="version" value="7"');
  });

  it('keeps the logo of the preview, if another field is wrong', async () => {
    refuse('request.invalid', 'supportPhone');
    const page = await app.signIn([merchant.grant('owner')]).upload(path(), { ...FORM, draftLogo: DRAFT_LOGO });
    expect(page.html).toContain(`name="draftLogo" value="${DRAFT_LOGO}"`);
  });
});

describe('a file', () => {
  it('of 256 KiB is sent on, a larger one is refused beside the form, without a command', async () => {
    const owner = app.signIn([merchant.grant('owner')]);
    expect((await owner.upload(path(), { ...FORM, logo: fileOf(MAX_LOGO_BYTES) })).status).toBe(303);
    expect(changes).toHaveLength(1);
    const page = await owner.upload(path(), { ...FORM, logo: fileOf(MAX_LOGO_BYTES + 1) });
    expect([page.status, page.text.includes('The logo cannot be used.')]).toEqual([422, true]);
    expect(changes).toHaveLength(1);
  });

  it.each(['image/svg+xml', 'image/gif', 'text/html', ''])('of the type "%s" is refused', async (type) => {
    const page = await app.signIn([merchant.grant('owner')]).upload(path(), { ...FORM, logo: fileOf(10, type) });
    expect([page.status, changes]).toEqual([422, []]);
  });

  it('that makes the form too large is not read, and the page says so', async () => {
    const owner = app.signIn([merchant.grant('owner')]);
    const page = await owner.upload(path('/preview'), { ...FORM, logo: fileOf(448 * 1024) });
    expect([page.status, page.text.includes('The file is too large.')]).toEqual([413, true]);
    expect(previews).toEqual([]);
    const headers = { 'content-length': '999999999' };
    expect((await owner.upload(path(), FORM, headers)).status).toBe(413);
  });

  it('in a form without the token of the page, or of another site, is refused', async () => {
    const owner = app.signIn([merchant.grant('owner')]);
    expect((await owner.upload(path(), { ...FORM, csrf: 'x' })).status).toBe(403);
    expect((await owner.upload(path(), FORM, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await owner.upload(path(), FORM, { 'content-type': 'multipart/form-data' })).status).toBe(403);
    expect(changes).toEqual([]);
  });
});
