import { type Bom, selectComponents } from './sbom.ts';

const component = (ref: string) => ({ 'bom-ref': ref, type: 'library' });
const WHOLE: Bom = {
  specVersion: '1.5',
  serialNumber: 'urn:uuid:whole',
  metadata: { component: component('svc-payments@1.0.0') },
  components: ['@svc/shop@1.0.0', 'pg@8.0.0', 'pg-types@2.0.0', 'jest@30.0.0'].map(component),
  dependencies: [
    { ref: '@svc/shop@1.0.0', dependsOn: ['pg@8.0.0', 'jest@30.0.0'] },
    { ref: 'pg@8.0.0', dependsOn: ['pg-types@2.0.0'] },
    { ref: 'jest@30.0.0', dependsOn: [] },
  ],
};

test("an image's bill of materials has its packages, and no dependency that is not in the image", () => {
  const { serialNumber, ...bom } = selectComponents(WHOLE, '@svc/shop', ['pg@8.0.0', 'pg@8.0.0', 'pg-types@2.0.0']);
  expect(serialNumber).toMatch(/^urn:uuid:[0-9a-f-]{36}$/);
  expect(bom).toEqual({
    specVersion: '1.5',
    metadata: { component: { 'bom-ref': '@svc/shop@1.0.0', type: 'container' } },
    components: ['pg-types@2.0.0', 'pg@8.0.0'].map(component),
    dependencies: [
      { ref: '@svc/shop@1.0.0', dependsOn: ['pg@8.0.0'] },
      { ref: 'pg@8.0.0', dependsOn: ['pg-types@2.0.0'] },
    ],
  });
});

test('an app or a package that is not in the lock file is refused', () => {
  expect(() => selectComponents(WHOLE, '@svc/till', [])).toThrow('@svc/till');
  expect(() => selectComponents(WHOLE, '@svc/shop', ['pg@9.0.0'])).toThrow('pg@9.0.0');
});
