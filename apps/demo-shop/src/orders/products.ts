/** A product of the shop. Prices are in integer cents (ZAR). A browser sends only quantities, never prices. */
export interface Product {
  /** Part of the name of a form field and of an asset. */
  readonly productId: string;
  readonly name: string;
  readonly description: string;
  readonly unitPriceCents: number;
  /** Unit to which the price applies, for example "250 g". */
  readonly unit: string;
}

export const CURRENCY = 'ZAR';

/** Maximum quantity of one product in one order. */
export const MAX_QUANTITY = 20;

export const PRODUCTS: readonly Product[] = [
  {
    productId: 'karoo-sunrise',
    name: 'Karoo Sunrise',
    description: 'Light roast. Apricot, honeybush and a long, clean finish.',
    unitPriceCents: 12_345,
    unit: '250 g',
  },
  {
    productId: 'swartberg-espresso',
    name: 'Swartberg Espresso',
    description: 'Dark roast. Bittersweet chocolate and toasted almond.',
    unitPriceCents: 14_900,
    unit: '250 g',
  },
  {
    productId: 'fynbos-decaf',
    name: 'Fynbos Decaf',
    description: 'Decaffeinated with water. Caramel, fig and orange peel.',
    unitPriceCents: 13_950,
    unit: '250 g',
  },
  {
    productId: 'enamel-mug',
    name: 'Enamel Mug',
    description: 'For the veranda or the open fire. Holds 350 ml.',
    unitPriceCents: 9_900,
    unit: 'each',
  },
];
