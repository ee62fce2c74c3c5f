import { Inject, Injectable } from '@nestjs/common';
import { Clock, DomainError } from '@svc/kernel';
import { type CreatedSession, HostedGatewayClient, SvcApiError } from '@svc/sdk';
import { DemoShopConfig } from '../config.js';
import { ShopCredentials } from '../platform/shop-credentials.js';
import { buildSessionRequest, isSessionUsable, type Order } from './order.js';
import { OrderRepository } from './order.repository.js';

/** Timeout of each request to the gateway. It is short, because a customer waits. */
const GATEWAY_TIMEOUT_MS = 5_000;

/**
 * Creates the payment session of an order. The requestId is derived from the order, so that two clicks, or a click
 * after a lost response, create only one session.
 */
@Injectable()
export class PayOrder {
  constructor(
    @Inject(OrderRepository) private readonly orders: OrderRepository,
    @Inject(ShopCredentials) private readonly credentials: ShopCredentials,
    @Inject(DemoShopConfig) private readonly config: DemoShopConfig,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Returns the URL of the payment page, or undefined if the order is already paid. */
  async execute(order: Order): Promise<string | undefined> {
    const now = this.clock.now();
    const failedPayments = await this.orders.listFailedPayments(order.orderId);
    const currentOrder = isSessionUsable(order, failedPayments, now)
      ? order
      : await this.orders.beginNextSession(order, now);
    if (currentOrder.state === 'paid') return undefined;
    if (currentOrder.redirectUrl !== null) return currentOrder.redirectUrl;
    const session = await this.createSession(currentOrder);
    await this.orders.setSession(currentOrder, session);
    return session.redirectUrl;
  }

  private async createSession(order: Order): Promise<CreatedSession> {
    const { merchantId, siteId, apiKey } = await this.credentials.get();
    const gateway = new HostedGatewayClient({
      gatewayUrl: this.config.SVC_GATEWAY_URL,
      merchantId,
      siteId,
      apiKey,
      timeoutMs: GATEWAY_TIMEOUT_MS,
    });
    const { SVC_SHOP_URL: shopUrl, SVC_SHOP_NOTIFICATIONS_URL: notificationsUrl = shopUrl } = this.config;
    try {
      return await gateway.createSession(buildSessionRequest(order, shopUrl, notificationsUrl));
    } catch (cause) {
      if (!(cause instanceof SvcApiError)) throw cause;
      throw new DomainError(cause.retryable ? 'service.not-ready' : 'internal', {
        message: 'The payment could not be started. Your order is kept; nothing was charged.',
        cause,
      });
    }
  }
}
