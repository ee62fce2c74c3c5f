import { DomainError, type MerchantUrlRules } from '@svc/kernel';
import { normaliseSiteSettings, siteChanged, type SiteSettings, webhookUrlRules } from './site.js';

const SETTINGS: SiteSettings = {
  name: 'Shop',
  siteReference: 'SHOP-1',
  requireApiKey: true,
  allowedHosts: [],
  keylessMode: 'test',
  webhookUrl: null,
  webhookEnabled: false,
  challengePayers: false,
};
const URL_RULES: MerchantUrlRules = { allowLoopbackHttp: false };

describe('normaliseSiteSettings', () => {
  it('returns each allowed host once, in the format of URLs', () => {
    const { allowedHosts } = normaliseSiteSettings(
      { ...SETTINGS, allowedHosts: ['Shop.Example', 'shop.example', '::1'] },
      URL_RULES,
    );
    expect(allowedHosts).toEqual(['shop.example', '[::1]']);
  });

  it('throws if requireApiKey is false and there is no allowed host', () => {
    expect(catchError({ ...SETTINGS, requireApiKey: false }).fields).toEqual([
      { field: 'allowedHosts', message: 'allowedHosts must not be empty when requireApiKey is false' },
    ]);
  });

  it('accepts a site with requireApiKey false and an allowed host', () => {
    const settings: SiteSettings = { ...SETTINGS, requireApiKey: false, allowedHosts: ['shop.example'] };
    expect(normaliseSiteSettings(settings, URL_RULES)).toEqual(settings);
  });

  it('throws for an allowed host with a port', () => {
    expect(catchError({ ...SETTINGS, allowedHosts: ['shop.example:80'] }).fields).toEqual([
      {
        field: 'allowedHosts',
        message: 'allowedHosts must be a list of host names or IP addresses, without port',
      },
    ]);
  });

  it.each([
    ['https://shop.example/hook', false],
    ['https://shop.example:8443/hook', true],
    [null, false],
  ])('accepts the webhookUrl %s with webhookEnabled %s', (webhookUrl, webhookEnabled) => {
    const settings: SiteSettings = { ...SETTINGS, webhookUrl, webhookEnabled };
    expect(normaliseSiteSettings(settings, URL_RULES)).toEqual(settings);
  });

  it.each(['http://shop.example/hook', 'https://shop.example:81/hook', 'https://u:p@shop.example/', 'shop.example'])(
    'throws for the invalid webhookUrl %s, even if the webhook is disabled',
    (webhookUrl) => {
      for (const webhookEnabled of [true, false])
        expect(catchError({ ...SETTINGS, webhookUrl, webhookEnabled }).fields).toMatchObject([{ field: 'webhookUrl' }]);
    },
  );

  it('throws for an enabled webhook without a URL', () => {
    expect(catchError({ ...SETTINGS, webhookEnabled: true }).fields).toEqual([
      { field: 'webhookUrl', message: 'webhookUrl must be set when webhookEnabled is true' },
    ]);
  });

  it('removes values that are not settings', () => {
    const site = { ...SETTINGS, siteId: 7, version: 9 };
    expect(normaliseSiteSettings(site, URL_RULES)).toEqual(SETTINGS);
  });
});

describe('webhookUrlRules', () => {
  it.each([
    ['development', true],
    ['production', false],
  ])('returns for the environment %s the allowLoopbackHttp %s', (SVC_ENVIRONMENT, allowLoopbackHttp) => {
    expect(webhookUrlRules({ SVC_ENVIRONMENT })).toEqual({ allowLoopbackHttp });
  });
});

describe('siteChanged', () => {
  it('returns an event with the settings of the webhook', () => {
    const webhook = { webhookUrl: 'https://shop.example/hook', webhookEnabled: true };
    const event = siteChanged({ merchantId: 1001, name: 'M' }, { ...SETTINGS, ...webhook, siteId: 5001, version: 3 });
    expect(event.payload).toMatchObject(webhook);
  });

  it('returns an event with all settings of the site, its merchant and its version', () => {
    const { webhookUrl: _, ...published } = SETTINGS;
    const event = siteChanged({ merchantId: 1001, name: 'Merchant' }, { ...SETTINGS, siteId: 5001, version: 3 });
    expect(event).toEqual({
      type: { name: 'site.changed.v1' },
      aggregateId: '5001',
      aggregateVersion: 3,
      payload: { merchantId: 1001, merchantName: 'Merchant', siteId: 5001, ...published },
    });
  });
});

function catchError(settings: SiteSettings): DomainError {
  try {
    normaliseSiteSettings(settings, URL_RULES);
  } catch (error) {
    if (error instanceof DomainError) return error;
  }
  throw new Error('No error was thrown.');
}
