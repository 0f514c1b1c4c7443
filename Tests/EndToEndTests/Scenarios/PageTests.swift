import Foundation
import Logging
import SkyRTC
import TestSupport
import Testing

extension EndToEnd {
  /// The call page without a bot.
  @Suite("call page") struct PageTests {
    @Test("two Chromium pages see and hear each other, and one sees the other leave", .enabled(if: Machine.hasChromium))
    func twoPages() async throws {
      try await Scenario.run("0 two pages of Chromium") { scenario in
        let server = SkyRTCServer(
          configuration: SkyRTCServer.Configuration(host: "127.0.0.1", port: 0),
          logger: Logger(label: "server") { _ in SwiftLogNoOpLogHandler() }, on: scenario.network.loops)
        let address = try await server.start()
        let browser = try await scenario.chromium()
        let pages = try await [
          scenario.page(of: browser, camera: .flashing), scenario.page(of: browser, camera: .flashing),
        ]
        let calls = pages.map { CallPage(page: $0, browser: browser.name) }
        for call in calls {
          try await call.enter(room: "two", at: address.pageURL)
          try await call.joined()
        }
        for call in calls {
          let report = try await eventually("three flashes and beeps", within: .seconds(15), every: .milliseconds(200))
          {
            try await call.reports().first { $0.flashes.count >= 3 && $0.beeps.count >= 3 }
          }
          #expect(
            report.framesSent > 20 && report.framesDecoded > 20,
            .onQuietMachine("between three flashes the camera has 30 frames"))
        }
        #expect(try await calls[1].reports().first?.offeredAt != nil, "the newcomer sends the offer")
        #expect(try await calls[0].reports().first?.offeredAt == nil, "the first page answers")
        #expect(await server.participants(in: "two").count == 2)

        for call in calls {
          try await eventually("path of the call", within: .seconds(5)) {
            try await call.paths() == ["direct"] ? true : nil
          }
        }
        try await pages[1].screenshot().write(to: scenario.folder.appendingPathComponent("call.png"))
        _ = try await pages[1].evaluate("call.leave()")
        try await eventually("farewell", within: .seconds(5)) {
          try await pages[0].evaluate("document.querySelectorAll('#tiles > .tile').length") == 1 ? true : nil
        }
        for page in pages { #expect(await page.errors == []) }
        await server.shutdown()
      }
    }

    @Test("a shared screen is a second stream with a large tile while it is shared", .enabled(if: Machine.hasChromium))
    func screen() async throws {
      try await Scenario.run("0 a page shares a screen") { scenario in
        let server = SkyRTCServer(
          configuration: SkyRTCServer.Configuration(host: "127.0.0.1", port: 0),
          logger: Logger(label: "server") { _ in SwiftLogNoOpLogHandler() }, on: scenario.network.loops)
        let address = try await server.start()
        let browser = try await scenario.chromium()
        let pages = try await [
          scenario.page(of: browser, camera: .flashing), scenario.page(of: browser, camera: .flashing),
        ]
        let calls = pages.map { CallPage(page: $0, browser: browser.name) }
        try await calls[0].enter(room: "screen", at: "\(address.pageURL)?screen=canvas")
        try await calls[0].joined()
        try await calls[1].enter(room: "screen", at: address.pageURL)
        try await calls[1].joined()

        func seesScreen(beyond frames: Int) async throws -> Int {
          let videos = try await eventually("camera, and frame \(frames + 10) of the screen", within: .seconds(20)) {
            let videos = try await calls[1].reports().first?.receivedVideos.map { $0["framesDecoded"].int ?? 0 } ?? []
            return videos.count == 2 && videos[0] > 10 && videos[1] > frames + 10 ? videos : nil
          }
          try await eventually("tile of the screen", within: .seconds(10)) {
            let name = try await pages[1].evaluate("document.querySelector('.large .name span')?.textContent").string
            return name?.hasSuffix(" – screen") == true ? true : nil
          }
          return videos[1]
        }
        // The second page has joined after the first one began to share.
        let frames = try await seesScreen(beyond: 0)
        try await pages[1].screenshot().write(to: scenario.folder.appendingPathComponent("screen.png"))
        _ = try await pages[0].evaluate("document.querySelector('#screen').click()")
        try await eventually("end of the tile", within: .seconds(10)) {
          try await pages[1].evaluate("document.querySelectorAll('#tiles > .tile').length") == 2 ? true : nil
        }
        _ = try await pages[0].evaluate("document.querySelector('#screen').click()")
        _ = try await seesScreen(beyond: frames)
        let received = try await pages[1].evaluate("call.received([...call.peers.keys()][0])").list
        #expect(received.map { $0["number"].int } == [1, 2])
        for page in pages { #expect(await page.errors == []) }
        await server.shutdown()
      }
    }

    @Test(
      "pages show names, the sign of a recorder, and a page where there is nothing", .enabled(if: Machine.hasChromium))
    func names() async throws {
      try await Scenario.run("0 names on the call page") { scenario in
        let server = SkyRTCServer(
          configuration: SkyRTCServer.Configuration(host: "127.0.0.1", port: 0),
          logger: Logger(label: "server") { _ in SwiftLogNoOpLogHandler() }, on: scenario.network.loops)
        let address = try await server.start()
        let browser = try await scenario.chromium()
        let pages = try await [
          scenario.page(of: browser, camera: .flashing), scenario.page(of: browser, camera: .flashing),
        ]
        let calls = pages.map { CallPage(page: $0, browser: browser.name) }
        try await calls[0].enter(room: "names", at: "\(address.pageURL)?name=Ann%20of%20Essex")
        let ann = try await calls[0].joined()
        try await calls[1].enter(room: "names", at: address.pageURL)
        let bob = try await calls[1].joined()

        func waitForCaption(_ text: String, of id: String, on page: any Page) async throws {
          try await eventually("caption \(text)", within: .seconds(10)) {
            let caption = "document.querySelector('.tile[data-peer=\"\(id)\"] .name span')?.textContent"
            return try await page.evaluate(caption).string == text ? true : nil
          }
        }
        try await waitForCaption("Ann of Essex · \(ann.prefix(6))", of: ann, on: pages[1])
        try await waitForCaption("\(bob.prefix(6))", of: bob, on: pages[0])
        try await waitForCaption("Ann of Essex (you) · \(ann.prefix(6))", of: "you", on: pages[0])
        _ = try await pages[1].evaluate("call.setName(' Bob\\u202e ') ?? null")
        try await waitForCaption("Bob · \(bob.prefix(6))", of: bob, on: pages[0])
        #expect(try await pages[0].evaluate("call.profiles()")[bob]["name"] == "Bob")
        #expect(try await pages[0].evaluate("localStorage.length") == 0, "the name of an address is not remembered")
        #expect(try await pages[1].evaluate("localStorage.getItem('name')") == "Bob")

        try await eventually("message of Bob", within: .seconds(15)) {
          try await pages[1].evaluate("call.reachable.length > 0 ? call.say('Hello') : 0") == 1 ? true : nil
        }
        try await eventually("name of Bob at the message", within: .seconds(5)) {
          try await pages[0].evaluate("document.querySelector('#log .meta b')?.textContent").string
            == "Bob · \(bob.prefix(6))" ? true : nil
        }

        let isRecorded = "[call.isRecorded, !document.querySelector('#recorded').hidden]"
        #expect(try await pages[0].evaluate(isRecorded).list == [false, false])
        var options = SkyRTCClient.Options()
        options.name = "recorder"
        options.records = true
        let recorder = try SkyRTCClient(url: address.webSocketURL, room: "names", options: options)
        try await recorder.connect()
        for page in pages {
          try await eventually("sign of the recorder", within: .seconds(5)) {
            let title = try await page.evaluate("document.querySelector('.tile.records .name')?.title").string ?? ""
            let signs = try await page.evaluate(isRecorded).list
            return signs == [true, true] && title.hasPrefix("recorder · ") ? true : nil
          }
        }
        try await pages[0].screenshot().write(to: scenario.folder.appendingPathComponent("names.png"))
        await recorder.leave()
        try await eventually("end of the sign", within: .seconds(5)) {
          try await pages[0].evaluate(isRecorded).list == [false, false] ? true : nil
        }
        for page in pages { #expect(await page.errors == []) }

        try await pages[1].open("\(address.pageURL)nonsense/deep")
        #expect(
          try await pages[1].evaluate("[document.title, document.querySelector('a').href]").list.map(\.string)
            == ["Not found", address.pageURL])
        await server.shutdown()
      }
    }
  }
}
