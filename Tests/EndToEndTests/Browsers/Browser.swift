import Foundation

/// A real headless browser, controlled by the tests.
protocol Browser: Sendable {
  /// The display name, for example "Chromium".
  var name: String { get }

  /// Opens an empty page in its own window, so that it is not throttled as a background page.
  func newPage() async throws -> any Page

  /// Kills the browser and removes its profile.
  func quit() async
}

/// One page of a browser.
protocol Page: Sendable {
  /// Grants the page camera and microphone. A page with that permission reveals its addresses; others hide them.
  func allowDevices() async throws

  /// Adds a script that runs at the start of every later document, before the page's own.
  func addStartScript(_ source: String) async throws

  func open(_ url: String) async throws

  /// Evaluates a JavaScript expression, waits for its promise, and returns the value, passed as JSON.
  func evaluate(_ expression: String, within limit: Duration) async throws -> JSON

  /// The errors that the page wrote to the console, and its uncaught exceptions.
  var errors: [String] { get async }

  /// Returns a PNG of the page.
  func screenshot() async throws -> Data

  func close() async
}

extension Page {
  func evaluate(_ expression: String) async throws -> JSON {
    try await evaluate(expression, within: .seconds(20))
  }
}

/// The failure of a page's script.
struct ScriptError: Error, CustomStringConvertible {
  let expression: String
  let message: String

  var description: String { "The page's script \"\(expression.prefix(120))\" failed: \(message)" }
}

/// The errors of a browser's pages, by the protocol's identifier of the page.
actor Complaints {
  private var texts: [String: [String]] = [:]

  func add(_ text: String, of page: String) {
    texts[page, default: []].append(text)
  }

  func of(_ page: String) -> [String] {
    texts[page] ?? []
  }
}
