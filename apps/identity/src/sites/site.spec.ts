import { DomainError } from '@svc/kernel';
import { settleSettings, siteChanged, type SiteSettings } from './site.js';

const SETTINGS: SiteSettings = {
  name: 'Shop',
  siteReference: 'SHOP-1',
  requireApiKey: true,
  allowedHosts: [],
  keylessMode: 'test',
};

describe('settleSettings', () => {
  it('writes each host once, as URLs show it', () => {
    const { allowedHosts } = settleSettings({ ...SETTINGS, allowedHosts: ['Shop.Example', 'shop.example', '::1'] });
    expect(allowedHosts).toEqual(['shop.example', '[::1]']);
  });

  it('refuses a site without required key that lists no host', () => {
    expect(refusalOf({ ...SETTINGS, requireApiKey: false }).fields).toEqual([
      { field: 'allowedHosts', message: 'allowedHosts must not be empty when requireApiKey is false' },
    ]);
  });

  it('takes a site without required key that lists a host', () => {
    const settings: SiteSettings = { ...SETTINGS, requireApiKey: false, allowedHosts: ['shop.example'] };
    expect(settleSettings(settings)).toEqual(settings);
  });

  it('refuses a host with a port', () => {
    expect(refusalOf({ ...SETTINGS, allowedHosts: ['shop.example:80'] }).fields).toEqual([
      {
        field: 'allowedHosts',
        message: 'allowedHosts must be a list of host names or IP addresses, without port',
      },
    ]);
  });

  it('keeps nothing that is no setting', () => {
    const given = { ...SETTINGS, siteId: 7, version: 9 };
    expect(settleSettings(given)).toEqual(SETTINGS);
  });
});

describe('siteChanged', () => {
  it('carries the whole site, its merchant and its version', () => {
    const event = siteChanged({ merchantId: 1001, name: 'Merchant' }, { ...SETTINGS, siteId: 5001, version: 3 });
    expect(event).toEqual({
      type: { name: 'site.changed.v1' },
      aggregateId: '5001',
      aggregateVersion: 3,
      payload: { merchantId: 1001, merchantName: 'Merchant', siteId: 5001, ...SETTINGS },
    });
  });
});

function refusalOf(settings: SiteSettings): DomainError {
  try {
    settleSettings(settings);
  } catch (error) {
    if (error instanceof DomainError) return error;
  }
  throw new Error('Nothing was refused.');
}
