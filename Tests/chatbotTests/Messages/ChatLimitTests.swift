import DataMessages
import Foundation
import Logging
import Media
import Recorder
import Testing

@testable import chatbot

@Suite("Limits of chat in a call")
struct ChatLimitTests {
  @Test("a user who comes back under 100 ids with full allowances fills neither memory nor disk")
  func rejoining() async throws {
    let scratch = try ReceivedFilesTests.Scratch()
    let recorder = try RecorderGroup(RoomRecorder.Configuration(folder: scratch.path, room: "100"), threads: 1)
    let chat = try ChatRecorder(scratch.path, recorder: recorder, ownID: { "me" }, log: Logger(label: "test"))
    let allowances = MessageAllowances(maximumFileBytes: 1 << 30)
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
    #expect(allowances.takeChat(500, by: 0, now: now))
    await recorder.finish(now: .now)
  }

  @Test("files of users who come back under new ids have a common limit")
  func files() {
    let allowances = MessageAllowances(maximumFileBytes: 100)
    let now = MonotonicInstant.now
    var (all, count): (Int64, Int) = (0, 0)
    for _ in 0..<100 {
      var taken: (files: Int, bytes: Int64) = (0, 0)
      while allowances.takeFile(100, by: taken, now: now) { taken = (taken.files + 1, taken.bytes + 100) }
      #expect(taken.bytes <= 1_000)
      all += taken.bytes
      count += taken.files
    }
    #expect(all <= 10_000 && count >= 10)
    allowances.giveBackFile(all)
    #expect(allowances.takeFile(100, by: (0, 0), now: now))
  }
}
