import { changedSettings } from './changed-settings.js';

const SETTINGS = { name: 'Shop', requireApiKey: true, allowedHosts: ['a.example'] };

describe('changedSettings', () => {
  it('is empty for equal settings', () => {
    expect(changedSettings(SETTINGS, { ...SETTINGS, allowedHosts: ['a.example'] })).toBeUndefined();
  });

  it('contains only the changed settings, before and after', () => {
    const after = { ...SETTINGS, requireApiKey: false, allowedHosts: ['b.example'] };
    expect(changedSettings(SETTINGS, { ...SETTINGS, name: 'Till' })).toEqual({
      before: { name: 'Shop' },
      after: { name: 'Till' },
    });
    expect(changedSettings(SETTINGS, after)).toEqual({
      before: { requireApiKey: true, allowedHosts: ['a.example'] },
      after: { requireApiKey: false, allowedHosts: ['b.example'] },
    });
  });
});
