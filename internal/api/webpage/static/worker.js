// The worker of the page: a click on a notice opens its ticket, whether a page is open or not. Browsers on phones show the notices of workers alone.
"use strict";

self.addEventListener("notificationclick", (e) => {
  e.notification.close();
  e.waitUntil(self.clients.openWindow(e.notification.data.path));
});
