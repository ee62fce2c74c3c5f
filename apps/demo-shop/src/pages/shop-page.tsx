import { formatZar } from '../orders/order.js';
import { MAX_QUANTITY, type Product, PRODUCTS } from '../orders/products.js';
import { renderDocument } from './layout.js';

/** Test card numbers of the simulated acquirer and their outcomes. */
const TEST_CARDS: readonly { number: string; outcome: string }[] = [
  { number: '4242 4242 4242 4242', outcome: 'approved' },
  { number: '4000 0000 0000 0002', outcome: 'declined' },
  { number: '4000 0000 0000 9995', outcome: 'insufficient funds' },
  { number: '4000 0000 0000 0069', outcome: 'expired card' },
  { number: '4000 0000 0000 0127', outcome: 'wrong CVV' },
  { number: '4000 0000 0000 3220', outcome: 'the bank asks you first' },
  { number: '4000 0000 0000 6009', outcome: 'approved, and the bank takes 6 s' },
  { number: '4000 0000 0000 4087', outcome: 'charged, but the answer is lost' },
];

/**
 * The page with the products.
 *
 * @param checkoutId UUID of this page, so that submitting the form twice creates only one order
 */
export function renderShopPage(checkoutId: string): string {
  return renderDocument({
    title: 'Shop',
    children: (
      <>
        <form method="post" action="/orders">
          <input type="hidden" name="checkoutId" value={checkoutId} />
          <h1>This week's coffee</h1>
          <ul class="products">
            {PRODUCTS.map((product) => (
              <ProductCard product={product} />
            ))}
          </ul>
          <p class="checkout">
            <button class="primary" type="submit">
              Check out
            </button>
          </p>
        </form>
        <TestCards />
      </>
    ),
  });
}

function ProductCard({ product }: { product: Product }) {
  const id = `quantity-${product.productId}`;
  return (
    <li class="card product">
      <img src={`/assets/${product.productId}.svg`} alt="" width="96" height="96" />
      <h2>{product.name}</h2>
      <p>{product.description}</p>
      <p class="price">
        <strong>{formatZar(product.unitPriceCents)}</strong> <span class="small">{product.unit}</span>
      </p>
      <p class="quantity">
        <label for={id}>
          Quantity<span class="hidden"> of {product.name}</span>
        </label>
        <input
          id={id}
          name={id}
          type="number"
          inputMode="numeric"
          min="0"
          max={MAX_QUANTITY}
          step="1"
          value="0"
          required
        />
      </p>
    </li>
  );
}

function TestCards() {
  return (
    <aside class="card hint" aria-labelledby="test-cards">
      <h2 id="test-cards">Card numbers to try</h2>
      <p>Any expiry date ahead, any CVV, any name.</p>
      <table>
        <tbody>
          {TEST_CARDS.map(({ number, outcome }) => (
            <tr>
              <th scope="row">
                <code>{number}</code>
              </th>
              <td>{outcome}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </aside>
  );
}
