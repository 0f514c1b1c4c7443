import Console
import Foundation
import Testing

@Suite("what is said while a server is not reached")
struct AnnouncementTests {
  @Test("a sentence is printed after a time, and not if the wait is over before")
  func announces() async throws {
    let pipe = Pipe()
    func console(isQuiet: Bool = false) -> Console {
      Console(isQuiet: isQuiet, isInWorkflow: false, errors: pipe.fileHandleForWriting.fileDescriptor)
    }
    await console().announce("Connecting to ws://a …", after: .zero).value
    let over = console().announce("Connecting to ws://b …", after: .seconds(600))
    over.cancel()
    await over.value
    await console().announce("Connecting to ws://d …", after: .zero) { true }.value
    await console(isQuiet: true).announce("Connecting to ws://c …", after: .zero).value
    try pipe.fileHandleForWriting.close()
    let errors = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    #expect(errors == "Connecting to ws://a …\n")
  }
}
