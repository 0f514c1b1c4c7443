import Foundation

/// A page of Chromium, with its own DevTools session.
struct ChromiumPage: Page {
  let commands: CommandChannel
  let complaints: Complaints
  let context: JSON
  let session: String

  @discardableResult
  func call(_ method: String, _ parameters: JSON = [:], within limit: Duration = .seconds(20)) async throws -> JSON {
    try await commands.call(method, parameters, extras: ["sessionId": .string(session)], within: limit)
  }

  func allowDevices() async throws {
    _ = try await commands.call(
      "Browser.grantPermissions",
      ["permissions": ["audioCapture", "videoCapture"], "browserContextId": context])
  }

  func addStartScript(_ source: String) async throws {
    try await call("Page.addScriptToEvaluateOnNewDocument", ["source": .string(source)])
  }

  func open(_ url: String) async throws {
    let result = try await call("Page.navigate", ["url": .string(url)])
    if let reason = result["errorText"].string { throw ScriptError(expression: "open \(url)", message: reason) }
    try await eventually("loaded page at \(url)", within: .seconds(20)) {
      // "complete" would also wait for the video of participants who send none.
      try await evaluate("document.readyState") == "loading" ? nil : true
    }
  }

  func evaluate(_ expression: String, within limit: Duration) async throws -> JSON {
    let wrapped = "(async () => JSON.stringify(await (\(expression))) ?? 'null')()"
    let answer = try await call(
      "Runtime.evaluate",
      ["expression": .string(wrapped), "awaitPromise": true, "returnByValue": true, "userGesture": true],
      within: limit)
    if answer["exceptionDetails"] != .null {
      let details = answer["exceptionDetails"]
      let message = details["exception"]["description"].string ?? details["text"].string ?? "no reason given"
      throw ScriptError(expression: expression, message: message)
    }
    return try JSON(parsing: answer["result"]["value"].string ?? "null")
  }

  var errors: [String] {
    get async { await complaints.of(session) }
  }

  func screenshot() async throws -> Data {
    let answer = try await call("Page.captureScreenshot", ["format": "png"])
    return Data(base64Encoded: answer["data"].string ?? "") ?? Data()
  }

  func close() async {
    _ = try? await commands.call("Target.disposeBrowserContext", ["browserContextId": context], within: .seconds(5))
  }
}
