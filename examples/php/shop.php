<?php
/**
 * A shop in one file: it creates an order, redirects to the payment page, receives the webhook, and shows the order when the
 * customer returns. Its settings are environment variables:
 *
 *     eval "$(./svc demo env)" # GATEWAY_URL, MERCHANT_ID, SITE_ID, WEBHOOK_SECRET of the demo; or set your own
 *     API_KEY=$SITE_API_KEY SHOP_URL=http://127.0.0.1:8080 \
 *       php -S 127.0.0.1:8080 examples/php/shop.php
 */
declare(strict_types=1);
require __DIR__ . '/SvcPayments.php';

/** The orders of this example are files. In a real shop use rows of a table, and an UPDATE in a transaction for `change`. */
final class Orders
{
    public function __construct(private readonly string $folder)
    {
        if (!is_dir($folder)) mkdir($folder, 0700, true);
    }

    public function find(string $id): ?array
    {
        if (!preg_match('/^[0-9a-f]{16}$/D', $id) || !is_file("$this->folder/$id")) return null;
        return json_decode((string) file_get_contents("$this->folder/$id"), true);
    }

    /** Changes the order under a lock, because a webhook may arrive twice at the same time. */
    public function change(string $id, callable $change): array
    {
        $file = fopen("$this->folder/$id", 'c+');
        flock($file, LOCK_EX);
        $order = $change(json_decode((string) stream_get_contents($file), true));
        ftruncate($file, 0);
        rewind($file);
        fwrite($file, json_encode($order, JSON_THROW_ON_ERROR));
        fclose($file);
        return $order;
    }
}

$orders = new Orders(getenv('ORDERS_FOLDER') ?: sys_get_temp_dir() . '/svc-shop-orders');
$svc = new SvcPayments((string) getenv('GATEWAY_URL'), (int) getenv('MERCHANT_ID'), (int) getenv('SITE_ID'), (string) getenv('API_KEY'));
$shopUrl = (string) getenv('SHOP_URL');
$path = (string) parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);

function show(string $text, string $more = ''): void
{
    header('content-type: text/html; charset=utf-8');
    echo '<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Shop</title><p>',
        htmlspecialchars($text), '</p>', $more;
}

/** Returns the URL of the payment page of the order's session, or of a new session if that one can no longer be paid. */
function createPaymentPage(SvcPayments $svc, Orders $orders, array $order, string $shopUrl): string
{
    for (;;) {
        $session = $svc->createSession([
            'requestId' => "{$order['id']}.{$order['attempt']}",
            'merchantOrderId' => $order['id'],
            'amount' => $order['amount'],
            'currencyISOCode' => 'ZAR',
            'notificationUrl' => "$shopUrl/webhook",
            'returnUrl' => "$shopUrl/orders/{$order['id']}",
            'cancelUrl' => "$shopUrl/orders/{$order['id']}",
            'origin' => (string) parse_url($shopUrl, PHP_URL_HOST),
            'lineItems' => [['name' => 'Mug', 'unitPrice' => $order['amount'], 'quantity' => 1]],
        ]);
        foreach ($session['warnings'] ?? [] as $warning) error_log($warning['message']);
        if (!in_array($session['sessionState'], ['refused', 'expired', 'cancelled'], true)) return $session['redirectUrl'];
        $endedAttempt = $order['attempt'];
        $order = $orders->change($order['id'], fn (array $current) => ['attempt' => max($current['attempt'], $endedAttempt + 1)] + $current);
    }
}

try {
    if ($path === '/webhook') {
        $payment = SvcPayments::verifyWebhook(getallheaders(), (string) file_get_contents('php://input'), [(string) getenv('WEBHOOK_SECRET')]);
        $order = $orders->find($payment['merchantOrderId']);
        $isExpected = $order !== null && $order['amount'] === $payment['amount'] && $payment['currencyISOCode'] === 'ZAR';
        if ($isExpected && $payment['paymentStatus'] === 'Success') {
            $orders->change($order['id'], fn (array $current) => ['paidWith' => $current['paidWith'] ?? $payment['paymentReference']] + $current);
        } elseif (!$isExpected) {
            error_log("A payment without a matching order: {$payment['paymentReference']}");
        }
        http_response_code(204);
    } elseif ($path === '/' && $_SERVER['REQUEST_METHOD'] === 'POST') {
        $id = bin2hex(random_bytes(8));
        $order = $orders->change($id, fn () => ['id' => $id, 'attempt' => 1, 'amount' => 12_345, 'paidWith' => null]);
        header('location: ' . createPaymentPage($svc, $orders, $order, $shopUrl), true, 303);
    } elseif (preg_match('~^/orders/(\w+)(/pay)?$~D', $path, $found) && ($order = $orders->find($found[1])) !== null) {
        if ($order['paidWith'] !== null) show("Order {$order['id']} is paid: {$order['paidWith']}.");
        elseif (isset($found[2])) header('location: ' . createPaymentPage($svc, $orders, $order, $shopUrl), true, 303);
        else show("Order {$order['id']} is not paid yet.", "<a href=\"/orders/{$order['id']}/pay\">Pay</a>");
    } elseif ($path === '/') {
        show('A mug: R 123.45', '<form method="post"><button>Buy</button></form>');
    } else {
        http_response_code(404);
        show('There is no such page.');
    }
} catch (SvcWebhookError $error) {
    error_log($error->getMessage());
    http_response_code(400);
} catch (SvcPaymentsError $error) {
    error_log($error->getMessage());
    http_response_code(503);
    show('Payment is not possible at the moment. Your order is saved.', isset($order) ? "<a href=\"/orders/{$order['id']}/pay\">Try again</a>" : '');
}
