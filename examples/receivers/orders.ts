import { DatabaseSync } from 'node:sqlite';

export interface Order {
  orderId: string;
  /** Cents. */
  amount: number;
  /** Reference of its payment. */
  paidBy: string | null;
}

/** The shop's own orders, in a file: a payment must match one of them. */
export class Orders {
  private readonly database: DatabaseSync;

  constructor(file: string) {
    this.database = new DatabaseSync(file);
    this.database.exec(
      `CREATE TABLE IF NOT EXISTS orders (order_id TEXT PRIMARY KEY, amount INTEGER NOT NULL CHECK (amount > 0), paid_by TEXT)`,
    );
  }

  place(orderId: string, amount: number): void {
    this.database
      .prepare(`INSERT INTO orders (order_id, amount) VALUES (?, ?) ON CONFLICT DO NOTHING`)
      .run(orderId, amount);
  }

  find(orderId: string): Order | undefined {
    return this.database
      .prepare(`SELECT order_id AS orderId, amount, paid_by AS paidBy FROM orders WHERE order_id = ?`)
      .get(orderId) as Order | undefined;
  }

  /** True for the first payment of the order, false for every repeat: ship, mail and book only if true. */
  markPaid(orderId: string, paymentReference: string): boolean {
    const { changes } = this.database
      .prepare(`UPDATE orders SET paid_by = ? WHERE order_id = ? AND paid_by IS NULL`)
      .run(paymentReference, orderId);
    return changes === 1;
  }
}
