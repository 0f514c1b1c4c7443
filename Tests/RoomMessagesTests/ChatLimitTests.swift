import DataMessages
import Foundation
import Logging
import Media
import NIOPosix
import Recorder
import Synchronization
import Testing

@testable import RoomMessages

@Suite("Limits of chat in a call")
struct ChatLimitTests {
  @Test("a user who comes back under 100 ids with full allowances fills neither memory nor disk")
  func rejoining() async throws {
    let scratch = try ReceivedFilesTests.Scratch()
    let recorder = try RecorderGroup(RoomRecorder.Configuration(folder: scratch.path, room: "100"), threads: 1)
    let chat = try ChatRecorder(
      scratch.path, recorder: recorder, ownID: { "me" }, on: MultiThreadedEventLoopGroup.singleton.any(),
      log: Logger(label: "test"))
    let allowances = CallAllowances(maximumFileBytes: 1 << 30)
    let text = UntrustedText(String(repeating: "x", count: 256 << 10))
    let now = MonotonicInstant.now
    var kept = 0
    for id in 0..<100 {
      var user = UserAllowance(of: allowances)
      for _ in 0..<64 {
        let cost = ChatEntry.cost(of: ChatEntry.shortened(text), sender: "\(id)", name: nil)
        guard user.takeChat(cost, now: now) else { break }
        await chat.add(text, from: ParticipantID("\(id)"), name: nil, direction: .received, only: nil)
      }
      kept += user.chatBytes
      #expect(user.chatBytes <= Int(MessageAllowances.chatBytesPerUser))
      #expect(await chat.waitingBytes <= ChatRecorder.maximumWaitingBytes)
    }
    #expect(kept <= Int(MessageAllowances.chatBytes))
    // An honest newcomer is still heard.
    let isHeard = allowances.state.withLock { $0.takeChat(500, by: 0, now: now) }
    #expect(isHeard)
    await recorder.finish(now: .now)
  }
}
