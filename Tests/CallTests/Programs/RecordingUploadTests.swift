import Call
import Foundation
import Logging
import Media
import Testing

@Suite("The upload beside a recording")
struct RecordingUploadTests {
  @Test("The program is named by a variable, beside this one, or in libexec")
  func path() throws {
    func find(_ named: String?, _ existing: Set<String>) -> Result<String, ProgramPath.Missing> {
      ProgramPath.service.find(named: named, running: "/opt/bin/chatbot") { existing.contains($0) }
    }
    #expect(try find("/x/y", ["/x/y"]).get() == "/x/y")
    #expect(try find(nil, ["/opt/bin/chatbot-service"]).get() == "/opt/bin/chatbot-service")
    let inLibexec = "/opt/bin/../libexec/chatbot/chatbot-service"
    #expect(try find("", [inLibexec]).get() == inLibexec)
    let wrong = #expect(throws: ProgramPath.Missing.self) {
      try find("/x/y", ["/opt/bin/chatbot-service"]).get()
    }
    #expect(wrong?.sentence.contains("/x/y") == true)
    let none = #expect(throws: ProgramPath.Missing.self) { try find(nil, []).get() }
    #expect(none?.sentence.contains("chatbot-service") == true)
  }
}
