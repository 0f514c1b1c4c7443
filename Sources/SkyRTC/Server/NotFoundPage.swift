/// The page of a path at which there is nothing, for browsers. It has no text of the request. Pure.
enum NotFoundPage {
  /// The maximum number of folders for which the link home goes up; a deeper path gets an absolute link.
  private static let maximumDepth = 16

  /// Returns the HTML of the page.
  ///
  /// - Parameter path: the path of the request. The links are relative to it, because a reverse proxy may serve the page below
  ///   a path of its own.
  static func html(at path: String) -> String {
    let depth = path.utf8.dropFirst().count { $0 == UInt8(ascii: "/") }
    let home =
      depth > maximumDepth ? "/" : depth == 0 ? "./" : String(repeating: "../", count: depth)
    return """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
      <meta name="color-scheme" content="light dark">
      <title>Not found</title>
      <link rel="icon" href="\(home)icon.svg" type="image/svg+xml">
      <link rel="stylesheet" href="\(home)style.css">
      </head>
      <body>
      <main class="nowhere">
        <section class="card">
          <h1>There is no page here</h1>
          <p class="soft">The address may have a mistake. A call has an address such as <code>/#100</code>.</p>
          <a class="primary" href="\(home)">Join a call</a>
        </section>
      </main>
      </body>
      </html>

      """
  }
}
