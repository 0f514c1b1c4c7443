import Media
import Synchronization
import Testing

@testable import chatbot

@Suite("the recorder's line")
struct RecordingLineTests {
  private static func user(_ number: Int) -> RecordingLine.Step { .begin(ParticipantID("\(number)")) }

  @Test("steps are put while the recorder stands still, and are taken in their order")
  func order() async {
    let line = RecordingLine()
    for number in 0..<RecordingLine.limit { await line.put(Self.user(number)) }
    line.finish()
    let taken = Mutex<[RecordingLine.Step]>([])
    await line.run { step in taken.withLock { $0.append(step) } }
    #expect(taken.withLock { $0 } == (0..<RecordingLine.limit).map(Self.user))
  }

  @Test("who puts in more than the line holds waits until a step was taken")
  func bound() async throws {
    let line = RecordingLine()
    for number in 0..<RecordingLine.limit { await line.put(Self.user(number)) }
    let isIn = Mutex(false)
    let putting = Task {
      await line.put(Self.user(RecordingLine.limit))
      isIn.withLock { $0 = true }
      line.finish()
    }
    try await Task.sleep(for: .milliseconds(50))
    #expect(!isIn.withLock { $0 })
    await line.run { _ in }
    await putting.value
    #expect(isIn.withLock { $0 })
  }
}
