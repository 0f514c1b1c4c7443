import DataMessages
import Foundation
import Logging
import Media
import NIOPosix
import Recorder
import Testing

@testable import RoomMessages

@Suite("Chat of users whose recording is paused")
struct PausedChatTests {
  private func lines(_ name: String, in folder: String) -> [String] {
    let text = (try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map(String.init)
  }

  @Test("a message of a paused user is in no file, and none is in the files of a paused user")
  func paused() async throws {
    let scratch = try ReceivedFilesTests.Scratch()
    let recorder = try RecorderGroup(RoomRecorder.Configuration(folder: scratch.path, room: "100"), threads: 1)
    let chat = try ChatRecorder(
      scratch.path, recorder: recorder, ownID: { "me" }, on: MultiThreadedEventLoopGroup.singleton.any(),
      log: Logger(label: "test"))
    for user in ["anna", "bob"] {
      recorder.begin(ParticipantID(user))
      recorder.addProblem("This makes a manifest.", of: ParticipantID(user))
    }
    func say(_ text: String, _ user: String) async {
      await chat.add(UntrustedText(text), from: ParticipantID(user), name: nil, direction: .received, only: nil)
    }
    await say("first", "anna")
    recorder.pause(["anna"])
    await say("of a paused user", "anna")
    recorder.pause(["carl"])
    await say("of a paused user whose media has not begun", "carl")
    await say("to a paused user", "bob")
    await chat.add("ours", from: nil, name: nil, direction: .sent, only: "anna")
    recorder.resume(["anna"])
    await say("last", "anna")
    await recorder.finish()
    for recorder in recorder.recorders { for await summary in recorder.summaries { await chat.finish(summary) } }
    let anna = lines("anna.chat.jsonl", in: scratch.path)
    let bob = lines("bob.chat.jsonl", in: scratch.path)
    #expect(anna.count == 2 && anna.first?.contains("first") == true && anna.last?.contains("last") == true)
    #expect(bob.count == 3 && bob[1].contains("to a paused user"))
  }
}
