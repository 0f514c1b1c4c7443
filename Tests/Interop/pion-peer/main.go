// One call with Pion: see ../README.md for its input and output.
//
// Usage: pion-peer VIDEO.ivf|VIDEO.h264 AUDIO.ogg [--access-units]
//
// H.264 is sent in packetization mode 0: each NAL unit is a packet, and no packet has the marker bit, as programs send that know
// nothing of access units. No NAL unit may be larger than a packet.
//
// With --access-units H.264 is sent in packetization mode 1, and the timestamps are the times of decoding: each access unit has a
// larger one than the one before it, also where the file has frames that are shown before it.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v3"
	"github.com/pion/webrtc/v3/pkg/media"
	"github.com/pion/webrtc/v3/pkg/media/h264reader"
	"github.com/pion/webrtc/v3/pkg/media/ivfreader"
	"github.com/pion/webrtc/v3/pkg/media/oggreader"
)

type line struct {
	Call      bool    `json:"call,omitempty"`
	Type      string  `json:"type,omitempty"`
	SDP       string  `json:"sdp,omitempty"`
	Candidate string  `json:"candidate,omitempty"`
	Mid       *string `json:"mid,omitempty"`
	Index     *uint16 `json:"index,omitempty"`
}

type counter struct {
	Video uint64 `json:"video"`
	Audio uint64 `json:"audio"`
}

var output sync.Mutex

func write(value interface{}) {
	text, err := json.Marshal(value)
	check(err)
	output.Lock()
	defer output.Unlock()
	fmt.Println(string(text))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	var video webrtc.TrackLocal
	var play func(count *uint64)
	engine := &webrtc.MediaEngine{}
	if len(os.Args) > 3 && os.Args[3] == "--access-units" {
		mode := h264
		mode.SDPFmtpLine = "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=4d001f"
		check(engine.RegisterCodec(mode, webrtc.RTPCodecTypeVideo))
		check(engine.RegisterCodec(opus, webrtc.RTPCodecTypeAudio))
		track, err := webrtc.NewTrackLocalStaticSample(mode.RTPCodecCapability, "video", "pion")
		check(err)
		video, play = track, func(count *uint64) { sendAccessUnits(track, os.Args[1], count) }
	} else if strings.HasSuffix(os.Args[1], ".h264") {
		check(engine.RegisterCodec(h264, webrtc.RTPCodecTypeVideo))
		check(engine.RegisterCodec(opus, webrtc.RTPCodecTypeAudio))
		track, err := webrtc.NewTrackLocalStaticRTP(h264.RTPCodecCapability, "video", "pion")
		check(err)
		video, play = track, func(count *uint64) { sendH264(track, os.Args[1], count) }
	} else {
		check(engine.RegisterDefaultCodecs())
		track, err := webrtc.NewTrackLocalStaticSample(
			webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8}, "video", "pion")
		check(err)
		video, play = track, func(count *uint64) { sendVideo(track, os.Args[1], count) }
	}
	connection, err := webrtc.NewAPI(webrtc.WithMediaEngine(engine)).NewPeerConnection(webrtc.Configuration{})
	check(err)
	audio, err := webrtc.NewTrackLocalStaticSample(
		webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus}, "audio", "pion")
	check(err)
	for _, track := range []webrtc.TrackLocal{video, audio} {
		sender, err := connection.AddTrack(track)
		check(err)
		go func() {
			buffer := make([]byte, 1500)
			for {
				if _, _, err := sender.Read(buffer); err != nil {
					return
				}
			}
		}()
	}

	var sent, received counter
	connection.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		for {
			packet, _, err := track.ReadRTP()
			if err != nil {
				return
			}
			if track.Kind() == webrtc.RTPCodecTypeAudio {
				atomic.AddUint64(&received.Audio, 1)
			} else if packet.Marker {
				atomic.AddUint64(&received.Video, 1)
			}
		}
	})
	var once sync.Once
	connection.OnConnectionStateChange(func(state webrtc.PeerConnectionState) {
		write(map[string]string{"state": state.String()})
		if state == webrtc.PeerConnectionStateConnected {
			once.Do(func() {
				go play(&sent.Video)
				go sendAudio(audio, os.Args[2], &sent.Audio)
			})
		}
	})
	connection.OnICECandidate(func(candidate *webrtc.ICECandidate) {
		if candidate != nil {
			init := candidate.ToJSON()
			write(line{Candidate: init.Candidate, Mid: init.SDPMid, Index: init.SDPMLineIndex})
		}
	})
	go func() {
		for range time.Tick(100 * time.Millisecond) {
			write(map[string]counter{
				"sent":     {atomic.LoadUint64(&sent.Video), atomic.LoadUint64(&sent.Audio)},
				"received": {atomic.LoadUint64(&received.Video), atomic.LoadUint64(&received.Audio)},
			})
		}
	}()

	var waiting []webrtc.ICECandidateInit
	scanner := bufio.NewScanner(os.Stdin)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var in line
		check(json.Unmarshal(scanner.Bytes(), &in))
		switch {
		case in.Call:
			offer, err := connection.CreateOffer(nil)
			check(err)
			check(connection.SetLocalDescription(offer))
			write(line{Type: "offer", SDP: offer.SDP})
		case in.Type == "offer":
			check(connection.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: in.SDP}))
			answer, err := connection.CreateAnswer(nil)
			check(err)
			check(connection.SetLocalDescription(answer))
			write(line{Type: "answer", SDP: answer.SDP})
		case in.Type == "answer":
			check(connection.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: in.SDP}))
		case in.Candidate != "":
			waiting = append(waiting, webrtc.ICECandidateInit{
				Candidate: in.Candidate, SDPMid: in.Mid, SDPMLineIndex: in.Index,
			})
		}
		if connection.RemoteDescription() != nil {
			for _, candidate := range waiting {
				check(connection.AddICECandidate(candidate))
			}
			waiting = nil
		}
	}
	check(connection.Close())
}

var h264 = webrtc.RTPCodecParameters{
	RTPCodecCapability: webrtc.RTPCodecCapability{
		MimeType: webrtc.MimeTypeH264, ClockRate: 90000,
		SDPFmtpLine: "level-asymmetry-allowed=1;packetization-mode=0;profile-level-id=42e01f",
		RTCPFeedback: []webrtc.RTCPFeedback{{Type: "nack"}, {Type: "nack", Parameter: "pli"}},
	},
	PayloadType: 125,
}

var opus = webrtc.RTPCodecParameters{
	RTPCodecCapability: webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: 48000, Channels: 2},
	PayloadType:        111,
}

// readH264 reads an Annex B file again and again, and says of each NAL unit whether an access unit begins with it.
func readH264(path string, use func(unit []byte, begins bool)) {
	content, err := os.ReadFile(path)
	check(err)
	hasSlice := false
	for {
		reader, err := h264reader.NewReader(bytes.NewReader(content))
		check(err)
		for {
			unit, err := reader.NextNAL()
			if errors.Is(err, io.EOF) {
				break
			}
			check(err)
			isSlice := unit.UnitType == h264reader.NalUnitTypeCodedSliceNonIdr ||
				unit.UnitType == h264reader.NalUnitTypeCodedSliceIdr
			// A slice whose first macroblock is that of the frame, or what is not a slice, begins an access unit after one.
			begins := hasSlice && (!isSlice || unit.Data[1]&0x80 != 0)
			hasSlice = isSlice || hasSlice && !begins
			use(unit.Data, begins)
		}
	}
}

// sendH264 sends a file with 30 access units a second, each NAL unit in a packet.
func sendH264(track *webrtc.TrackLocalStaticRTP, path string, count *uint64) {
	ticker := time.NewTicker(time.Second / 30)
	packet := rtp.Packet{Header: rtp.Header{Version: 2}}
	readH264(path, func(unit []byte, begins bool) {
		if begins {
			atomic.AddUint64(count, 1)
			<-ticker.C
			packet.Timestamp += 3000
		}
		packet.Payload = unit
		check(track.WriteRTP(&packet))
		packet.SequenceNumber++
	})
}

// sendAccessUnits sends a file with 15 access units a second.
func sendAccessUnits(track *webrtc.TrackLocalStaticSample, path string, count *uint64) {
	const pause = time.Second / 15
	ticker := time.NewTicker(pause)
	var access []byte
	readH264(path, func(unit []byte, begins bool) {
		if begins {
			check(track.WriteSample(media.Sample{Data: access, Duration: pause}))
			atomic.AddUint64(count, 1)
			access = nil
			<-ticker.C
		}
		access = append(append(access, 0, 0, 0, 1), unit...)
	})
}

func sendVideo(track *webrtc.TrackLocalStaticSample, path string, count *uint64) {
	file, err := os.Open(path)
	check(err)
	reader, _, err := ivfreader.NewWith(file)
	check(err)
	// The frame rate of the sample, which the time base of a copied IVF file does not contain.
	const pause = time.Second / 30
	ticker := time.NewTicker(pause)
	for ; ; <-ticker.C {
		frame, _, err := reader.ParseNextFrame()
		if errors.Is(err, io.EOF) {
			return
		}
		check(err)
		check(track.WriteSample(media.Sample{Data: frame, Duration: pause}))
		atomic.AddUint64(count, 1)
	}
}

func sendAudio(track *webrtc.TrackLocalStaticSample, path string, count *uint64) {
	file, err := os.Open(path)
	check(err)
	reader, _, err := oggreader.NewWith(file)
	check(err)
	// The page with the comments contains no audio.
	_, _, err = reader.ParseNextPage()
	check(err)
	const pause = 20 * time.Millisecond
	ticker := time.NewTicker(pause)
	for ; ; <-ticker.C {
		page, _, err := reader.ParseNextPage()
		if errors.Is(err, io.EOF) {
			return
		}
		check(err)
		check(track.WriteSample(media.Sample{Data: page, Duration: pause}))
		atomic.AddUint64(count, 1)
	}
}
