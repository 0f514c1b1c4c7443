import FaultInjection
import PeerEngine
import Testing

@Suite("The list of faults")
struct FaultTests {
  @Test("every fault has a name in lower case with hyphens, by which it is found")
  func names() {
    #expect(
      Fault.allCases.map(\.rawValue) == [
        "candidate-before-offer", "second-offer", "ssrc-change", "size-change", "absurd-timestamps", "padding-only",
        "sudden-leave", "slow-answer", "wrong-fingerprint",
      ])
    for fault in Fault.allCases { #expect(Fault(rawValue: fault.rawValue) == fault) }
  }

  @Test("every fault describes in sentences what it does and how a good app behaves")
  func texts() {
    for fault in Fault.allCases {
      for text in [fault.title, fault.expectedBehavior] {
        #expect(text.hasSuffix(".") && text.first?.isUppercase == true && !text.contains("\n"))
        #expect(text.count > 40 && text.count < 330, "\(fault.rawValue): \(text.count)")
      }
    }
    #expect(Set(Fault.allCases.map(\.title)).count == Fault.allCases.count)
  }

  @Test("a fault belongs either to the engine or to the source")
  func owners() {
    for fault in Fault.allCases { #expect((fault.connection == nil) == fault.isInjectedBySource) }
    #expect(Fault.allCases.filter(\.isInjectedBySource) == [.sizeChange])
  }
}
