import Testing

@testable import chatbot

@Suite("what is said while a server is not reached")
struct AnnouncementTests {
  @Test("a sentence is printed after a time, and not if the wait is over before")
  func announces() async throws {
    let screen = try Screen()
    await screen.console().announce("Connecting to ws://a …", after: .zero).value
    #expect(screen.errors == "Connecting to ws://a …\n")
    let over = screen.console().announce("Connecting to ws://b …", after: .seconds(600))
    over.cancel()
    await over.value
    await screen.console().announce("Connecting to ws://d …", after: .zero) { true }.value
    await screen.console(isQuiet: true).announce("Connecting to ws://c …", after: .zero).value
    #expect(screen.errors == "Connecting to ws://a …\n")
  }
}
