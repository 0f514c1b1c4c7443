import ICE
import NIOCore
import Testing

@Suite("What a connection may send before its first valid check")
struct StreamAdmissionTests {
  private static let check = ByteBuffer(repeating: 0, count: 100)

  @Test("sixteen checks are admitted, and then nothing")
  func number() {
    var admission = StreamAdmission()
    let admitted = (0..<100).count { _ in admission.admits(Self.check) { _ in true } }
    #expect(admitted == StreamAdmission.maximumChecks)
  }

  @Test("what is no check, and what is shorter or longer than any, is not admitted")
  func others() {
    var admission = StreamAdmission()
    let isAdmitted = admission.admits(Self.check) { _ in false }
    #expect(!isAdmitted)
    for length in [0, 1, 3, 19, 1_501, 65_535] {
      let frame = ByteBuffer(repeating: 0, count: length)
      let isAdmitted = admission.admits(frame) { _ in true }
      #expect(!isAdmitted)
      #expect(!admission.admits(announced: length))
    }
    #expect(admission.admits(announced: 20) && admission.admits(announced: 1_500))
  }
}
