import Foundation

/// A real browser without a window, driven from here.
protocol Browser: Sendable {
  /// For people, for example "Chromium".
  var name: String { get }

  /// Opens an empty page in a window of its own, so that it is not slowed down as one in the background.
  func newPage() async throws -> any Page

  /// Ends the browser at once, without asking, and removes its profile.
  func quit() async
}

/// One page of a browser.
protocol Page: Sendable {
  /// Lets the page use camera and microphone. A page that may show its addresses to others; one that may not hides them.
  func allowDevices() async throws

  /// Has a script run at the start of every document to come, before the page's own.
  func addStartScript(_ source: String) async throws

  func open(_ url: String) async throws

  /// Evaluates a JavaScript expression, waits for its promise, and returns the value by way of JSON.
  func evaluate(_ expression: String, within limit: Duration) async throws -> JSON

  /// What the page wrote to the console as an error, and the exceptions nobody caught.
  var errors: [String] { get async }

  /// A PNG of what is to be seen.
  func screenshot() async throws -> Data

  func close() async
}

extension Page {
  func evaluate(_ expression: String) async throws -> JSON {
    try await evaluate(expression, within: .seconds(20))
  }
}

/// A page's script failed.
struct ScriptError: Error, CustomStringConvertible {
  let expression: String
  let message: String

  var description: String { "The page's script \"\(expression.prefix(120))\" failed: \(message)" }
}

/// What the pages of one browser complained of, by the name the protocol gives to the page.
actor Complaints {
  private var texts: [String: [String]] = [:]

  func add(_ text: String, of page: String) {
    texts[page, default: []].append(text)
  }

  func of(_ page: String) -> [String] {
    texts[page] ?? []
  }
}
