import Call
import Recorder
import SkyRTC

// Records everybody in room 100 for a minute, and prints the files.
var settings = RoomCall.Settings()
settings.recording = RoomRecorder.Configuration(folder: "out", room: "100")
settings.duration = .seconds(60)

let client = try SkyRTCClient(url: "ws://localhost:3000", room: "100")
let call = try await RoomCall(settings, client: client)
try await call.join()
for recording in await call.run().recordings { print(recording.paths.joined(separator: "\n")) }
