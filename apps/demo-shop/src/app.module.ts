import { Inject, Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { addBodyParsers } from './body-parsers.js';
import { OrderRepository } from './orders/order.repository.js';
import { PayOrder } from './orders/pay-order.js';
import { PlaceOrder } from './orders/place-order.js';
import { OrdersController } from './pages/orders.controller.js';
import { PageSender } from './pages/page-sender.js';
import { ShopController } from './pages/shop.controller.js';
import { ShopAssets } from './pages/shop-assets.js';
import { ShopCredentials } from './platform/shop-credentials.js';
import { RecordPayment } from './webhooks/record-payment.js';
import { WebhooksController } from './webhooks/webhooks.controller.js';

@Module({
  controllers: [ShopController, OrdersController, WebhooksController],
  providers: [OrderRepository, PayOrder, PlaceOrder, RecordPayment, PageSender, ShopCredentials, ShopAssets],
})
export class DemoShopModule implements OnModuleInit {
  constructor(@Inject(HttpAdapterHost) private readonly http: HttpAdapterHost) {}

  onModuleInit(): void {
    addBodyParsers(this.http.httpAdapter.getInstance<FastifyInstance>());
  }
}
