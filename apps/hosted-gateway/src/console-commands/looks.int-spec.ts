/** An owner previews and stores the look of a merchant, as the console asks for it. */
import { randomUUID } from 'node:crypto';
import { HostedGatewayAdministeredV1, type LookDraft, MAX_LOGO_BYTES, PreviewLookV1, SetLookV1 } from '@svc/contracts';
import { Commands } from '@svc/messaging';
import sharp from 'sharp';
import { type Gateway, type Merchant, startGateway } from '../../test/gateway.js';

let gateway: Gateway;
let commands: Commands;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway();
  commands = new Commands(gateway.broker);
});
beforeEach(async () => {
  merchant = await gateway.createMerchant();
});
afterAll(() => gateway.stop());

const SETTINGS = {
  accentColour: '#FFCC00',
  displayName: 'Karoo Coffee & Co',
  supportEmail: 'help@karoo.example',
  termsUrl: 'https://karoo.example/terms',
};
const STORED = { ...SETTINGS, accentColour: '#ffcc00' };
const personId = randomUUID();
const drawLogo = async (red = 10, type: 'png' | 'jpeg' = 'png'): Promise<NonNullable<LookDraft['logo']>> => {
  const image = sharp({ create: { width: 600, height: 200, channels: 3, background: { r: red, g: 125, b: 79 } } });
  return { type: `image/${type}`, base64: (await image.toFormat(type).toBuffer()).toString('base64') };
};
const preview = (draft?: LookDraft, language: string = 'en') =>
  commands.request(PreviewLookV1, {
    merchantId: merchant.merchantId,
    merchantName: 'Karoo Books',
    language,
    ...(draft === undefined ? {} : { draft }),
  });
const set = (draft: Partial<LookDraft>, version = 0, merchantId = merchant.merchantId) =>
  commands.request(SetLookV1, {
    merchantId,
    version,
    personId,
    requestId: 'request-1',
    settings: {},
    removesLogo: false,
    ...draft,
  });
const audited = async () =>
  (await gateway.published(HostedGatewayAdministeredV1))
    .map(({ payload }) => payload)
    .filter(({ merchantId }) => merchantId === merchant.merchantId);

test('without a look the preview is the page of the platform, with the name of the merchant and without a script', async () => {
  const { page, ...rest } = await preview();
  expect(rest).toEqual({ settings: {}, version: 0 });
  expect(page.html).toContain('Karoo Books');
  expect(page.html).toMatch(/Pay <bdi class="money">R\s250\.00/);
  // Nothing is greyed out, and nothing can be pressed or typed.
  expect(page.html).toContain('<fieldset id="pay-fields">');
  expect(page.html).toContain('<body inert>');
  expect(page.html).not.toContain('<script');
  expect(page.html).not.toContain('<noscript');
  expect(page.styles).toEqual([expect.stringMatching(/^sha384-/)]);
  expect((await preview(undefined, 'af')).page.html).toContain('<html lang="af"');
});

test('a draft is shown with its logo and colours, and is not stored', async () => {
  const { page, logo, ...rest } = await preview({ settings: SETTINGS, logo: await drawLogo(), removesLogo: false });
  expect(rest).toEqual({
    settings: STORED,
    version: 0,
    colours: {
      buttonText: '#000000',
      linksOnLight: expect.stringMatching(/^#[0-9a-f]{6}$/) as string,
      linksOnDark: '#ffcc00',
    },
  });
  expect(rest.colours?.linksOnLight).not.toBe('#ffcc00');
  expect(await sharp(Buffer.from(logo!, 'base64')).metadata()).toMatchObject({
    format: 'png',
    width: 480,
    height: 160,
  });
  expect(page.html).toContain(`src="data:image/png;base64,${logo}"`);
  expect(page.html).toContain('Karoo Coffee &amp; Co');
  expect(page.html).toContain('--button:#ffcc00');
  expect(page.styles).toHaveLength(2);
  expect(await preview()).toMatchObject({ settings: {}, version: 0 });
  expect(await audited()).toEqual([]);
});

test('an owner stores settings and logo together; a repeat changes nothing; pages of payers show it', async () => {
  const logo = await drawLogo();
  const stored = await set({ settings: SETTINGS, logo });
  expect(await set({ settings: SETTINGS, logo })).toEqual(stored);
  const entries = await audited();
  expect(entries.map(({ action }) => action)).toEqual(['merchant-look.set', 'merchant-logo.set']);
  expect(entries[0]).toEqual({
    action: 'merchant-look.set',
    actor: `person:${personId}`,
    requestId: 'request-1',
    merchantId: merchant.merchantId,
    before: {},
    after: STORED,
  });
  const sessionId = await gateway.createSession(merchant);
  gateway.clock.advance(10_000);
  const page = await gateway.call('GET', `/pay?sessionId=${sessionId}`);
  expect(page.text).toContain('Karoo Coffee &amp; Co');
  expect(page.text).toMatch(/src="\/looks\/[0-9a-f]{32}\.png"/);
  const shown = await preview();
  expect([shown.version, shown.settings]).toEqual([stored.version, STORED]);
});

test('the stored logo stays until it is replaced or removed', async () => {
  const first = await set({ logo: await drawLogo() });
  const second = await set({ settings: SETTINGS }, first.version);
  expect((await preview()).logo).toBeDefined();
  const third = await set({ settings: SETTINGS, removesLogo: true }, second.version);
  const { logo, version } = await preview();
  expect([logo, version]).toEqual([undefined, third.version]);
});

test('a change of an older version is refused, so that the change of another person is not lost', async () => {
  const { version } = await set({ settings: SETTINGS });
  await expect(set({ settings: { displayName: 'Other' } }, version - 1)).rejects.toMatchObject({
    code: 'resource.conflict',
  });
  expect((await preview()).settings).toEqual(STORED);
});

test('an unknown merchant has no look that can be changed', async () => {
  await expect(set({ settings: SETTINGS }, 0, 999_999_999)).rejects.toMatchObject({ code: 'resource.not-found' });
});

test.each([
  ['accentColour', 'red'],
  ['displayName', 'x'.repeat(101)],
  ['supportEmail', 'nobody'],
  ['supportPhone', 'call us'],
  ['supportUrl', 'http://karoo.example'],
  ['termsUrl', 'javascript:alert(1)'],
])('%s "%s" is refused, in a preview and in a change', async (field, value) => {
  const draft = { settings: { [field]: value }, removesLogo: false };
  for (const send of [(sent: LookDraft) => preview(sent), (sent: LookDraft) => set(sent)])
    await expect(send(draft)).rejects.toMatchObject({ code: 'request.invalid', fields: [{ field }] });
});

describe('a logo that', () => {
  const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>');
  it.each<[string, () => Promise<NonNullable<LookDraft['logo']>>, string]>([
    ['is SVG', () => Promise.resolve({ type: 'image/png', base64: SVG.toString('base64') }), 'cannot be read'],
    [
      'has another type than it says',
      async () => ({ ...(await drawLogo(1, 'jpeg')), type: 'image/png' }),
      'not a file',
    ],
    ['is empty', () => Promise.resolve({ type: 'image/png', base64: '' }), 'empty'],
    [
      'is one byte too large',
      () => Promise.resolve({ type: 'image/png', base64: Buffer.alloc(MAX_LOGO_BYTES + 1).toString('base64') }),
      'larger than 256 KiB',
    ],
  ])('%s is refused', async (_, create, message) => {
    const draft = { settings: {}, logo: await create(), removesLogo: false };
    for (const send of [(sent: LookDraft) => preview(sent), (sent: LookDraft) => set(sent)])
      await expect(send(draft)).rejects.toMatchObject({
        code: 'look.logo-unusable',
        message: expect.stringContaining(message) as string,
      });
  });
});
